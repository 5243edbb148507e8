"""Nsight Compute: the command line that counts what kernels move and do, and its output as numbers."""

import csv
import io
import re
import subprocess

_TENSOR = "sm__pipe_tensor_type_hmma_hgmma_qgmma_imma_igmma_bmma_bgmma_cycles_active"
_CONFLICTS, _WAVEFRONTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared", "l1tex__data_pipe_lsu_wavefronts_mem_shared"
_STALLS = (
    "long_scoreboard", "short_scoreboard", "math_pipe_throttle", "mio_throttle", "lg_throttle", "barrier", "wait",
    "gmma", "not_selected", "dispatch_stall",
)  # fmt: skip
METRICS = {
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "l2_hit_pct": "lts__t_sector_hit_rate.pct",
    "l1_hit_pct": "l1tex__t_sector_hit_rate.pct",
    "l2_to_sm_bytes": "l1tex__m_xbar2l1tex_read_bytes.sum",
    "load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "tma_load_bytes": "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum",
    "tma_multicast_bytes": "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld_dest_multicast.sum",
    "shared_load_wavefronts": f"{_WAVEFRONTS}_op_ld.sum",
    "shared_store_wavefronts": f"{_WAVEFRONTS}_op_st.sum",
    "shared_load_conflicts": f"{_CONFLICTS}_op_ld.sum",
    "shared_store_conflicts": f"{_CONFLICTS}_op_st.sum",
    "ldmatrix_wavefronts": "sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum",
    "ldmatrix_conflicts": "sm__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldsm.sum",
    "ldmatrix_instructions": "sm__sass_inst_executed_op_ldsm.sum",
    "cp_async_instructions": "sm__sass_inst_executed_op_ldgsts.sum",
    "cp_async_conflicts": f"{_CONFLICTS}_op_ldgsts.sum",
    "wgmma_wavefronts": f"{_WAVEFRONTS}_op_gmma.sum",
    "wgmma_conflicts": f"{_CONFLICTS}_op_gmma.sum",
    "wgmma_instructions": "sm__inst_executed_pipe_tensor_op_gmma.sum",
    "tensor_pct": f"{_TENSOR}.avg.pct_of_peak_sustained_elapsed",
    "issue_pct": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "warps_pct": "sm__warps_active.avg.pct_of_peak_sustained_active",
} | {f"stall_{name}": f"smsp__average_warps_issue_stalled_{name}_per_issue_active.ratio" for name in _STALLS}


def available(metrics: dict[str, str] = METRICS) -> dict[str, str]:
    """Return those of `metrics` whose base name the installed ncu lists for this GPU."""
    listed = subprocess.run(["ncu", "--query-metrics"], capture_output=True, text=True, check=False).stdout
    names = set(re.findall(r"^(\w+__\w+)", listed, re.MULTILINE))
    return {name: metric for name, metric in metrics.items() if metric.split(".")[0] in names}


def command(kernels: list[str], program: list[str], metrics: dict[str, str] = METRICS) -> list[str]:
    """Return the command that profiles every launch of the named kernels in `program`. Clocks stay as they are."""
    options = ["--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base"]
    pattern = f"regex:^({'|'.join(sorted(set(kernels)))})$"
    return ["ncu", *options, "--kernel-name", pattern, "--metrics", ",".join(metrics.values()), *program]


def rows(text: str) -> list[dict]:
    """Parse the output of `command`: one dict {our name: value} per launch, in order, and the kernel's name under
    "entry"; a metric that was not counted is absent.
    """
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return []
    found = []
    for row in csv.DictReader(io.StringIO("\n".join(lines[start:]))):
        if (row["ID"] or "").isdigit():  # the row below the head holds units, those after the last launch other text
            values = {name: _number(row.get(metric)) for name, metric in METRICS.items()}
            values = {name: value for name, value in values.items() if value is not None}
            found.append({"entry": row["Kernel Name"], **values})
    return found


def _number(text: str | None) -> float | None:
    try:
        return float((text or "").replace(",", ""))
    except ValueError:
        return None
