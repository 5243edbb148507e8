#!/usr/bin/env python3
"""Check, measure and record kernels of the ladder on the GPU at hand: one command, results/<gpu>.json.

    python3 tools/record_gpu.py                                  the rungs of the ladder at 1024, 2048 and 4096
    python3 tools/record_gpu.py k04_coalesced --shapes 2048,512x4096x4096 --rounds 30 --out /tmp/results
    python3 tools/record_gpu.py k16_two_consumers --shapes 4096 --sustained 5
    python3 tools/record_gpu.py --ceilings                       what the machine gives at most, nothing else

Kernels of the same types share a process, its data and its rivals, and are timed in the same rounds; every shape is
written as soon as it is measured. A kernel that fails or takes the GPU's context with it is named, and the others go
on. Where `ncu` is present, every kernel is profiled once, all in one process (clocks are left alone).
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools import ncu, record_worker  # noqa: E402
from tools.record_worker import attempt  # noqa: E402

SUSTAINED_S = 5.0  # seconds that each candidate runs in the mode of that name


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
    parser.add_argument("kernels", nargs="*", help="names of the ladder (default: its rungs)")
    parser.add_argument(
        "--shapes", type=shapes_of, default=shapes_of("1024,2048,4096"), help="1024,2048 or MxNxK, comma-separated"
    )
    parser.add_argument("--mode", choices=("cold", "warm", "sustained"), default="cold")
    parser.add_argument("--sustained", type=float, dest="seconds", metavar="SECONDS", help="so long without a pause")
    parser.add_argument("--rounds", type=int, default=20, help="interleaved rounds (default 20)")
    parser.add_argument("--out", type=Path, default=ROOT / "results", help="directory of the results files")
    parser.add_argument("--limit", type=int, default=240, help="seconds that one kernel may take in all")
    parser.add_argument("--ceilings", action="store_true", help="the ceilings and nothing else")
    parser.add_argument("--no-ceilings", action="store_true")
    parser.add_argument("--no-profile", action="store_true")
    parser.add_argument("--profile-only", action="store_true", help="profile kernels whose records are there")
    parser.add_argument("--profile-shape", type=shape_of, default=shape_of("4096"), help="default: 4096")
    parser.add_argument("--worker", choices=("ceilings", "measure", "launch"), help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.seconds is not None:
        options.mode = "sustained"
    options.seconds = options.seconds or SUSTAINED_S
    return options


def child(options, worker: str, *names: str, shapes=None) -> list[str]:
    """Return the command line of a worker process with the same options."""
    shapes = ",".join("x".join(map(str, shape)) for shape in shapes or options.shapes)
    command = [sys.executable, str(Path(__file__).resolve()), "--worker", worker, "--shapes", shapes]
    command += ["--rounds", str(options.rounds), "--out", str(options.out.resolve())]
    sustained = options.mode == "sustained"
    return [*command, *(["--sustained", str(options.seconds)] if sustained else ["--mode", options.mode]), *names]


def spawn(options, worker: str, *names: str) -> bool:
    """Run a worker in a process of its own, its output passed through; return whether all its cases succeeded."""
    limit = options.limit * max(1, len(names))
    try:
        return subprocess.run(child(options, worker, *names), timeout=limit).returncode == 0
    except subprocess.TimeoutExpired:
        print(f"FAILED {' '.join((worker, *names))}: longer than {limit} s; what it had measured is kept", flush=True)
        return False


def profile(options, specs, gpu_stem: str) -> str:
    """Run ncu over one launch of every kernel at the profile's shape and add what it counts to the records."""
    from gemmlab import results

    metrics = ncu.available()
    program = child(options, "launch", *(spec.name for spec in specs), shapes=[options.profile_shape])
    command = ncu.command([spec.entry for spec in specs], program, metrics)
    done = subprocess.run(command, capture_output=True, text=True, timeout=options.limit * len(specs))
    rows = ncu.rows(done.stdout)
    launched = re.findall(r"^launched: (.*)$", done.stdout, re.MULTILINE)
    names = launched[0].split() if launched else []
    if not names or len(rows) != len(names):
        tail = (done.stderr + done.stdout).strip().splitlines()[-3:]
        raise RuntimeError(f"ncu gave {len(rows)} rows for {len(names)} launches: {' | '.join(tail)}")
    print(*(line for line in done.stderr.splitlines() if line.startswith("FAILED")), sep="\n", flush=True)
    path = options.out / f"{gpu_stem}.json"
    data = results.load(path)
    seen = {name: {k: v for k, v in row.items() if k != "entry"} for name, row in zip(names, rows, strict=True)}
    key = lambda record: (record["M"], record["N"], record["K"], record["mode"])  # noqa: E731
    wanted = (*options.profile_shape, options.mode)
    changed = [{**r, "profile": seen[r["kernel"]]} for r in data["records"] if r["kernel"] in seen and key(r) == wanted]
    results.merge(path, data["machine"], changed)
    missing = sorted(set(metrics) ^ set(ncu.METRICS))
    return f"profiles: {len(rows)} kernels, {len(changed)} records" + (f"; no {', '.join(missing)}" if missing else "")


def groups_of(specs) -> list[list[str]]:
    """Return the names of kernels that solve the same problem, together."""
    from gemmlab.reference import Problem

    groups = {}
    for spec in specs:
        groups.setdefault(Problem.of(spec), []).append(spec.name)
    return list(groups.values())


def work(options) -> bool:
    """Do what a worker process is for."""
    if options.worker == "measure":
        return record_worker.measure(options, lambda names, shapes: child(options, "measure", *names, shapes=shapes))
    return {"ceilings": record_worker.ceilings, "launch": record_worker.launch}[options.worker](options)


def main(argv=None) -> int:
    options = parse(argv)
    if options.worker:
        return 0 if work(options) else 1
    import kernels
    from gemmlab import results
    from gemmlab.device import device

    here = device()
    if here.kind != "gpu":
        print(f"no GPU to measure on: {here.reason}", file=sys.stderr)
        return 2
    try:
        specs = [kernels.spec(name) for name in options.kernels]
        specs = specs or [s for s in kernels.RUNGS if s.runs_on(here.cc)]
    except KeyError as error:
        print(error.args[0], file=sys.stderr)
        return 2
    if options.ceilings:
        return 0 if spawn(options, "ceilings") else 1
    print(
        f"{here.name}: {len(specs)} kernels at {len(options.shapes)} shapes, {options.mode}, {options.rounds} rounds",
        flush=True,
    )
    good = [options.no_ceilings or options.profile_only or spawn(options, "ceilings")]
    if not options.profile_only:
        good += [spawn(options, "measure", *names) for names in groups_of(specs)]
    if not options.no_profile:
        if shutil.which("ncu"):
            good.append(attempt("profile", profile, options, specs, results.slug(here.name)))
        else:
            print("ncu is not on the PATH: what a profiler counts is not recorded", flush=True)
    path = results.path_of(here.name, options.out)
    if path.exists():
        print(f"{path}: {len(results.load(path)['records'])} records, {os.path.getsize(path)} bytes", flush=True)
    print(json.dumps({"failed": good.count(False)}))
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
