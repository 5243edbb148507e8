"""Nsight Compute: the command line that counts what one kernel moves, and its output as numbers."""

import csv
import io

METRICS = {
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "l2_hit_pct": "lts__t_sector_hit_rate.pct",
    "l1_hit_pct": "l1tex__t_sector_hit_rate.pct",
    "load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared_load_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared_store_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
}


def command(kernel: str, program: list[str]) -> list[str]:
    """Return the command that profiles every launch of `kernel` in `program`. Clocks stay as they are."""
    options = ["--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base"]
    return ["ncu", *options, "--kernel-name", kernel, "--metrics", ",".join(METRICS.values()), *program]


def rows(text: str) -> list[dict[str, float]]:
    """Parse the output of `command`: one dict {our name: value} per launch; a metric that was not counted is absent."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return []
    found = []
    for row in csv.DictReader(io.StringIO("\n".join(lines[start:]))):
        if row["ID"]:  # the row below the head holds units and no ID
            values = {name: _number(row.get(metric)) for name, metric in METRICS.items()}
            found.append({name: value for name, value in values.items() if value is not None})
    return found


def _number(text: str | None) -> float | None:
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return None
