"""Record what Nsight Compute counts for every access pattern of tests/ptxemu/pattern_cases.py and
pattern_tensor.py.

    python3 tools/record_patterns.py --out DIR

needs a GPU, CuPy and ``ncu`` with permission to read the counters; takes about two minutes. The script starts
itself under ``ncu`` (one process, clocks untouched), reads the CSV and writes DIR/patterns_<gpu>.json: provenance,
and per pattern the counters. Copy the file to tests/ptxemu/data/. ``--kernels REGEX`` records those patterns alone and
keeps the others of the file in DIR. ``--csv FILE`` converts a report that was made by
hand with

    ncu --csv --page raw --print-units base --clock-control none --kernel-name regex:^p[0-9] --metrics <METRICS> \\
        python3 tools/record_patterns.py --launch
"""

import argparse
import csv
import datetime
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "ptxemu"))

import pattern_tensor  # noqa: E402
from pattern_cases import GLOBAL_BYTES, PATTERNS, module_source  # noqa: E402

METRICS = {
    "global_ld_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_ld_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_st_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_st_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_ld_instructions": "smsp__inst_executed_op_shared_ld.sum",
    "shared_st_instructions": "smsp__inst_executed_op_shared_st.sum",
    "shared_ld_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_st_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared_ld_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared_st_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "shared_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "shared_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "ldsm_instructions": "smsp__inst_executed_op_ldsm.sum",
    "ldgsts_instructions": "smsp__inst_executed_op_ldgsts.sum",
    "ldgsts_wavefronts": "sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
    "ldgsts_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum",
    "ldgsts_ca_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_access.sum",
    "ldgsts_cg_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_bypass.sum",
}


def launch():
    """Run every pattern once (what ncu profiles)."""
    import cupy

    module = cupy.RawModule(code=module_source(), backend="nvrtc", options=("--std=c++17",))
    data = cupy.zeros(GLOBAL_BYTES, cupy.uint8)
    for pattern in PATTERNS:
        module.get_function(pattern.name)((1,), pattern.block, (data,))
    module = cupy.RawModule(code=pattern_tensor.module_source(), backend="nvrtc", options=("--std=c++17",))
    for pattern in pattern_tensor.PATTERNS:
        module.get_function(pattern.name)((1,), (32,), (data,))
    cupy.cuda.runtime.deviceSynchronize()


def available_metrics(ncu):
    """The metrics of METRICS that this ncu knows, by our names."""
    text = subprocess.run(
        [ncu, "--query-metrics-mode", "all", "--query-metrics"], capture_output=True, text=True
    ).stdout
    if "l1tex__" not in text:
        return METRICS
    known = {line.split()[0] for line in text.splitlines() if line.strip()}  # whole names: many begin with others
    return {name: metric for name, metric in METRICS.items() if {metric, metric.removesuffix(".sum")} & known}


def profile(ncu, log, metrics, kernels):
    """Run ``launch`` under ncu, which counts the kernels that match; the CSV goes to ``log``."""
    command = [
        ncu, "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--log-file", str(log),
        "--kernel-name", f"regex:{kernels}", "--metrics", ",".join(metrics.values()),
        sys.executable, str(Path(__file__).resolve()), "--launch",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        tail = (done.stdout + done.stderr + (log.read_text() if log.exists() else ""))[-1500:]
        sys.exit(f"ncu failed ({done.returncode}): {tail}")


def parse(text, metrics):
    """{pattern name: {counter: value}} from ncu's CSV, one row per kernel (raw page) or per metric (details page)."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(lines))
    by_metric = {metric: name for name, metric in metrics.items()}
    counts = {}
    for row in rows:
        kernel = (row.get("Kernel Name") or "").split("(")[0].strip()
        if not kernel.startswith("p"):
            continue
        cells = {row["Metric Name"]: row["Metric Value"]} if "Metric Name" in row else row
        for metric, name in by_metric.items():
            value = (cells.get(metric) or "").replace(",", "")
            if value and value[0].isdigit():
                counts.setdefault(kernel, {})[name] = int(float(value))
    return counts


def provenance(ncu):
    """Who recorded this: GPU, driver, compiler, profiler, date."""
    import cupy

    properties = cupy.cuda.runtime.getDeviceProperties(0)
    driver = cupy.cuda.runtime.driverGetVersion()
    version = subprocess.run([ncu, "--version"], capture_output=True, text=True).stdout if ncu else ""
    return {
        "gpu": properties["name"].decode(),
        "compute_capability": f"{properties['major']}.{properties['minor']}",
        "driver_cuda": f"{driver // 1000}.{driver % 1000 // 10}",
        "nvrtc": ".".join(map(str, cupy.cuda.nvrtc.getVersion())),
        "ncu": next((line.strip() for line in version.splitlines() if line.startswith("Version")), "unknown"),
        "date": datetime.date.today().isoformat(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, help="folder for patterns_<gpu>.json")
    parser.add_argument("--launch", action="store_true", help="only launch the kernels (used under ncu)")
    parser.add_argument("--kernels", default="^p[0-9]", help="record the patterns with these names (a regex)")
    parser.add_argument("--csv", type=Path, help="convert this ncu report instead of running ncu")
    args = parser.parse_args()
    if args.launch:
        launch()
        return
    if args.out is None:
        parser.error("--out DIR is required")
    ncu = shutil.which("ncu") or next((str(p) for p in sorted(Path("/usr/local").glob("cuda*/bin/ncu"))[-1:]), None)
    if ncu is None and args.csv is None:
        parser.error("ncu (Nsight Compute) is not on PATH; add the CUDA toolkit's bin folder or pass --csv")
    args.out.mkdir(parents=True, exist_ok=True)
    log, metrics, started = args.csv or args.out / "patterns_ncu.csv", METRICS, time.time()
    if args.csv is None:
        metrics = available_metrics(ncu)
        profile(ncu, log, metrics, args.kernels)
    counts = parse(log.read_text(), metrics)
    about = provenance(ncu) | {"metrics": metrics}
    path = args.out / f"patterns_{about['gpu'].lower().replace(' ', '_')}.json"
    if path.exists():
        counts = json.loads(path.read_text())["patterns"] | counts
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(counts[name])}" for name in sorted(counts))
    path.write_text(f'{{"recorded": {json.dumps(about)},\n"patterns": {{\n{lines}\n}}}}\n')
    every = [*PATTERNS, *pattern_tensor.PATTERNS]
    missing = [p.name for p in every if p.name not in counts]
    print(f"{path}: {len(counts)} of {len(every)} patterns in {time.time() - started:.0f} s")
    if missing:
        sys.exit(f"not counted: {', '.join(missing[:5])}; the report is {log}")


if __name__ == "__main__":
    main()
