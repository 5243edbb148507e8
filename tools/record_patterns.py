"""Record what Nsight Compute counts for every access pattern of tests/ptxemu/pattern_cases.py and
pattern_tensor.py.

    python3 tools/record_patterns.py --out DIR

needs a GPU, CuPy and ``ncu`` with permission to read the counters; takes about two minutes. The script starts
itself under ``ncu`` (one process, clocks untouched), reads the CSV and writes DIR/patterns_<gpu>.json: provenance,
and per pattern the counters. Copy the file to tests/ptxemu/data/. ``--wgmma``: those of pattern_wgmma.py instead, to
DIR/wgmma_patterns_<gpu>.json, in half a minute. ``--kernels REGEX`` records those patterns alone and
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

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "ptxemu")]

import pattern_tensor  # noqa: E402
import pattern_wgmma  # noqa: E402
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
WGMMA_METRICS = {
    "wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum",
    "conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_gmma.sum",
    "requests": "l1tex__lsuin_requests_op_gmma.sum",
}  # those that count by instrumented code, sm__sass_…, make wgmma fail


def launch_wgmma():
    """Run every pattern of pattern_wgmma.py once."""
    import cupy

    for name, case in pattern_wgmma.PATTERNS.items():
        words, image = case.make()
        arrays = cupy.asarray(image), cupy.asarray(words), cupy.zeros((case.sums, 128), cupy.uint32)
        module = cupy.cuda.function.Module()
        module.load(pattern_wgmma.text(name).encode())
        module.get_function(name)((1,), (128,), arrays)
        cupy.cuda.runtime.deviceSynchronize()  # before the module goes


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


def available_metrics(ncu, wanted):
    """Those of the metrics ``wanted`` that this ncu knows, by our names."""
    text = subprocess.run(
        [ncu, "--query-metrics-mode", "all", "--query-metrics"], capture_output=True, text=True
    ).stdout
    if "l1tex__" not in text:
        return wanted
    known = {line.split()[0] for line in text.splitlines() if line.strip()}  # whole names: many begin with others
    return {name: metric for name, metric in wanted.items() if {metric, metric.removesuffix(".sum")} & known}


def profile(ncu, log, metrics, kernels, options):
    """Run ``launch`` under ncu, which counts the kernels that match; the CSV goes to ``log``. ``options``: of ours."""
    command = [
        ncu, "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none", "--log-file", str(log),
        "--kernel-name", f"regex:{kernels}", "--metrics", ",".join(metrics.values()),
        sys.executable, str(Path(__file__).resolve()), "--launch", *options,
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


def provenance_of(log):
    """What a report itself tells: GPU and, from the file, the day on which it was written."""
    rows = csv.DictReader(line for line in log.read_text().splitlines() if line.startswith('"'))
    row = next(row for row in rows if row["Kernel Name"].startswith("p"))
    major, minor = (row[f"device__attribute_compute_capability_{part}"] for part in ("major", "minor"))
    return {
        "gpu": row["device__attribute_display_name"],
        "compute_capability": f"{major}.{minor}",
        "date": datetime.date.fromtimestamp(log.stat().st_mtime).isoformat(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, help="folder for patterns_<gpu>.json")
    parser.add_argument("--launch", action="store_true", help="only launch the kernels (used under ncu)")
    parser.add_argument("--wgmma", action="store_true", help="those of pattern_wgmma.py instead")
    parser.add_argument("--kernels", default="^p[0-9]", help="record the patterns with these names (a regex)")
    parser.add_argument("--csv", type=Path, help="convert this ncu report instead of running ncu")
    args = parser.parse_args()
    if args.launch:
        launch_wgmma() if args.wgmma else launch()
        return
    if args.out is None:
        parser.error("--out DIR is required")
    ncu = shutil.which("ncu") or next((str(p) for p in sorted(Path("/usr/local").glob("cuda*/bin/ncu"))[-1:]), None)
    if ncu is None and args.csv is None:
        parser.error("ncu (Nsight Compute) is not on PATH; add the CUDA toolkit's bin folder or pass --csv")
    args.out.mkdir(parents=True, exist_ok=True)
    log, started = args.csv or args.out / "patterns_ncu.csv", time.time()
    metrics = WGMMA_METRICS if args.wgmma else METRICS
    if args.csv is None:
        metrics = available_metrics(ncu, metrics)
        profile(ncu, log, metrics, args.kernels, ["--wgmma"] * args.wgmma)
    counts = parse(log.read_text(), metrics)
    about = (provenance_of(log) if args.csv else provenance(ncu)) | {"metrics": metrics}
    path = args.out / f"{'wgmma_' * args.wgmma}patterns_{about['gpu'].lower().replace(' ', '_')}.json"
    if path.exists():
        counts = json.loads(path.read_text())["patterns"] | counts
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(counts[name])}" for name in sorted(counts))
    path.write_text(f'{{"recorded": {json.dumps(about)},\n"patterns": {{\n{lines}\n}}}}\n')
    every = [p.name for p in [*PATTERNS, *pattern_tensor.PATTERNS]]
    every = list(pattern_wgmma.PATTERNS) if args.wgmma else every
    missing = [name for name in every if name not in counts]
    print(f"{path}: {len(counts)} of {len(every)} patterns in {time.time() - started:.0f} s")
    if missing:
        sys.exit(f"not counted: {', '.join(missing[:5])}; the report is {log}")


if __name__ == "__main__":
    main()
