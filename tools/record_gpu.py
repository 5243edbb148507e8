#!/usr/bin/env python3
"""Check, measure and record kernels of the ladder on the GPU at hand: one command, results/<gpu>.json.

    python3 tools/record_gpu.py                                  chapters 03 and 04 at 1024, 2048 and 4096
    python3 tools/record_gpu.py k04_coalesced --shapes 2048,512x4096x4096 --rounds 30 --out /tmp/results

Every kernel runs in a process of its own and every case is written as soon as it is measured, so that a failure loses
nothing but itself. Where `ncu` is present, DRAM bytes and cache hit rates are added (clocks are left alone).
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools import ncu  # noqa: E402


def shape_of(text: str) -> tuple[int, int, int]:
    """Parse "4096" or "512x4096x4096" (M x N x K)."""
    sizes = [int(part) for part in text.lower().split("x")]
    if len(sizes) not in (1, 3) or min(sizes) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no shape: write 4096 or MxNxK")
    return tuple(sizes * 3) if len(sizes) == 1 else tuple(sizes)


def shapes_of(text: str) -> list[tuple[int, int, int]]:
    try:
        return [shape_of(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of shapes: write 1024,2048 or MxNxK") from None


def parse(argv=None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="*", help="names of the ladder (default: every kernel of chapters 03 and 04)")
    parser.add_argument(
        "--shapes", type=shapes_of, default=shapes_of("1024,2048,4096"), help="1024,2048 or MxNxK, comma-separated"
    )
    parser.add_argument("--mode", choices=("cold", "warm"), default="cold")
    parser.add_argument("--rounds", type=int, default=20, help="interleaved rounds (default 20)")
    parser.add_argument("--out", type=Path, default=ROOT / "results", help="directory of the results files")
    parser.add_argument("--limit", type=int, default=240, help="seconds that one kernel may take in all")
    parser.add_argument("--no-ceilings", action="store_true")
    parser.add_argument("--no-profile", action="store_true")
    parser.add_argument("--worker", choices=("ceilings", "measure", "launch"), help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def attempt(what: str, function, *args) -> bool:
    """Run one case; print its outcome in one line and return whether it succeeded."""
    start = time.perf_counter()
    try:
        text = function(*args)
    except Exception as error:  # noqa: BLE001 - a failed case must not end the others
        print(f"FAILED {what}: {type(error).__name__}: {error}", flush=True)
        return False
    print(f"{text}  [{time.perf_counter() - start:.1f} s]", flush=True)
    return True


def worker_ceilings(options):
    from gemmlab import results
    from gemmlab.measuring import ceilings, telemetry

    def run():
        found = ceilings.measure_ceilings()
        machine = telemetry.machine(telemetry.Telemetry())
        results.merge(results.path_of(machine["gpu"], options.out), machine, ceilings=found)
        return "ceilings: " + ", ".join(f"{name} {c['value']:.1f} {c['unit']}" for name, c in found.items())

    return attempt("ceilings", run)


def worker_measure(options):
    import kernels
    from gemmlab import results
    from gemmlab.measuring import telemetry
    from gemmlab.measuring.measure_gpu import Bench

    spec = kernels.spec(options.kernels[0])

    def run(shape):
        measured = Bench(spec, *shape, options.mode).run(options.rounds)
        machine = telemetry.machine(telemetry.Telemetry(), measured.record["cublas"])
        results.merge(results.path_of(machine["gpu"], options.out), machine, [measured.record])
        return str(measured)

    return all([attempt(f"{spec.name} at {'x'.join(map(str, shape))}", run, shape) for shape in options.shapes])


def worker_launch(options):
    """Launch one kernel once per shape on random data: what the profiler looks at."""
    import cupy

    import kernels
    from gemmlab.measuring.measure_gpu import Bench

    for shape in options.shapes:
        bench = Bench(kernels.spec(options.kernels[0]), *shape, "warm")
        bench.bound(0)()
        cupy.cuda.Device().synchronize()
    return True


def profile(options, name: str, entry: str, gpu_stem: str) -> str:
    """Run ncu over one launch per shape and add what it counts to the records."""
    from gemmlab import results

    command = ncu.command(entry, child(options, "launch", name))
    done = subprocess.run(command, capture_output=True, text=True, timeout=options.limit)
    rows = ncu.rows(done.stdout)
    if done.returncode or len(rows) != len(options.shapes):
        tail = (done.stderr + done.stdout).strip().splitlines()[-3:]
        raise RuntimeError(f"ncu gave {len(rows)} rows for {len(options.shapes)} shapes: {' | '.join(tail)}")
    path = options.out / f"{gpu_stem}.json"
    data = results.load(path)
    changed = []
    for shape, row in zip(options.shapes, rows, strict=True):
        for record in data["records"]:
            if (record["kernel"], record["M"], record["N"], record["K"], record["mode"]) == (
                name,
                *shape,
                options.mode,
            ):
                changed.append({**record, "profile": row})
    results.merge(path, data["machine"], changed)
    return f"profile of {name}: " + ", ".join(
        f"{r['M']}x{r['N']}x{r['K']} DRAM {results.dram_bytes(r) / 1e6:.1f} MB" for r in changed
    )


def child(options, worker: str, *names: str) -> list[str]:
    """Return the command line of a worker process with the same options."""
    shapes = ",".join("x".join(map(str, shape)) for shape in options.shapes)
    return [
        sys.executable,
        str(Path(__file__).resolve()),
        "--worker",
        worker,
        "--shapes",
        shapes,
        "--mode",
        options.mode,
        "--rounds",
        str(options.rounds),
        "--out",
        str(options.out.resolve()),
        *names,
    ]


def spawn(options, worker: str, *names: str) -> bool:
    """Run a worker in a process of its own, its output passed through; return whether all its cases succeeded."""
    try:
        return subprocess.run(child(options, worker, *names), timeout=options.limit).returncode == 0
    except subprocess.TimeoutExpired:
        print(
            f"FAILED {' '.join((worker, *names))}: longer than {options.limit} s; what it had measured is kept",
            flush=True,
        )
        return False


def main(argv=None) -> int:
    options = parse(argv)
    if options.worker:
        return (
            0
            if {"ceilings": worker_ceilings, "measure": worker_measure, "launch": worker_launch}[options.worker](
                options
            )
            else 1
        )
    import kernels
    from gemmlab import results
    from gemmlab.device import device

    here = device()
    if here.kind != "gpu":
        print(f"no GPU to measure on: {here.reason}", file=sys.stderr)
        return 2
    try:
        specs = [kernels.spec(name) for name in options.kernels] or [
            s for s in kernels.LADDER if s.chapter in ("03", "04")
        ]
    except KeyError as error:
        print(error.args[0], file=sys.stderr)
        return 2
    print(
        f"{here.name}: {len(specs)} kernels at {len(options.shapes)} shapes, {options.mode}, {options.rounds} rounds",
        flush=True,
    )
    good = [options.no_ceilings or spawn(options, "ceilings")]
    good += [spawn(options, "measure", spec.name) for spec in specs]
    if not options.no_profile:
        if shutil.which("ncu"):
            good += [
                attempt(f"profile of {s.name}", profile, options, s.name, s.entry, results.slug(here.name))
                for s in specs
            ]
        else:
            print("ncu is not on the PATH: DRAM bytes and hit rates are not recorded", flush=True)
    path = results.path_of(here.name, options.out)
    if path.exists():
        print(f"{path}: {len(results.load(path)['records'])} records, {os.path.getsize(path)} bytes", flush=True)
    print(json.dumps({"failed": good.count(False)}))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
