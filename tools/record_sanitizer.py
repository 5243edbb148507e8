#!/usr/bin/env python3
"""Run the CUDA C++ kernels of the ladder under compute-sanitizer and record what it says: results/sanitizer/<gpu>.json.

    python3 tools/record_sanitizer.py                          every CUDA C++ kernel, memcheck, synccheck and racecheck
    python3 tools/record_sanitizer.py k16_two_consumers --tools memcheck,synccheck --out /tmp/results

Each tool runs one process that launches every kernel at two small shapes, one of them ragged. memcheck and synccheck
gate: an error there makes the exit status 1. racecheck is reported, also of two kernels that are broken on purpose: it
does not follow wgmma and TMA. A kernel whose context is lost is named, and the others run in a new process. Exit status
2 without a GPU.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from gemmlab import sanitizer  # noqa: E402
from gemmlab.device import device  # noqa: E402
from gemmlab.errors import GemmlabError  # noqa: E402
from gemmlab.measuring import telemetry  # noqa: E402
from gemmlab.results import slug  # noqa: E402
from tools.record_worker import compile_all  # noqa: E402

MARK = re.compile(r"^>>> (\w+) (\w+) (\d+) (\d+) (\d+)$")
ERROR = re.compile(r"^========= (?!\s|$)(?!COMPUTE-SANITIZER|ERROR SUMMARY|RACECHECK SUMMARY|LEAK|Target|Host)(.*)")


def parse(argv=None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="*", help="names of the ladder (default: every CUDA C++ kernel)")
    parser.add_argument("--tools", default=",".join(sanitizer.TOOLS), help="default: %(default)s")
    parser.add_argument("--out", type=Path, default=sanitizer.DIRECTORY, help="directory of the records")
    parser.add_argument("--limit", type=int, default=600, help="seconds that one tool may take in all")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def worker(names: list[str]) -> int:
    """Launch every kernel at its shapes; print a mark before and after each launch for the parent to read."""
    import numpy as np

    from gemmlab.call import Call
    from gemmlab.launch import launch
    from gemmlab.reference import Problem, numpy_dtype
    from gemmlab.rules import launch_rule

    found = {name: sanitizer.kernel_of(name) for name in names}
    compile_all([spec for _, spec in found.values()])
    for name, (kernel, spec) in found.items():
        for shape in sanitizer.shapes(spec)[: 1 if name in sanitizer.CONTROLS else None]:
            M, N, K = shape
            A, B = Problem.of(spec).inputs(np.random.default_rng(0), M, N, K)
            call = Call(launch_rule(spec), A, B, np.zeros((M, N), numpy_dtype(spec.c_dtype)), device().sms)
            print(">>> start", name, *shape, flush=True)
            try:
                launch(kernel, *call.args(), **call.launch, backend="gpu")
            except GemmlabError as error:
                print(f"========= {error}", flush=True)
                print(">>> lost", name, *shape, flush=True)
                return 1
            print(">>> end", name, *shape, flush=True)
    return 0


def read(text: str) -> tuple[list[tuple], str | None]:
    """Return ([(kernel, (M, N, K), [message, …])] of the launches in a worker's output, the kernel that was lost)."""
    found, messages, lost = [], [], None
    for line in text.splitlines():
        mark, error = MARK.match(line), ERROR.match(line)
        if mark and mark[1] == "start":
            messages = []
        elif mark:
            found.append((mark[2], tuple(map(int, mark.groups()[2:])), messages))
            lost = mark[2] if mark[1] == "lost" else lost
        elif error:
            messages.append(error[1])
    return found, lost


def output(command: list[str], limit: float) -> tuple[str, bool]:
    """Run a command for at most `limit` seconds, with all that it starts; return its output and whether it ended."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
    with subprocess.Popen(command, start_new_session=True, **pipes) as process:
        try:
            return process.communicate(timeout=limit)[0], True
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return process.communicate()[0], False


def run(tool: str, names: list[str], limit: int) -> list[tuple]:
    """Run one tool over the kernels, starting again behind a kernel whose context was lost. Raises GemmlabError."""
    found = []
    while names:
        program = [sys.executable, str(Path(__file__).resolve()), "--worker", *names]
        command = ["compute-sanitizer", "--tool", tool, "--print-limit", "200", *program]
        out, finished = output(command, limit)
        some, lost = read(out)
        if not finished:
            print(f"{tool}: longer than {limit} s; what it had seen is kept", file=sys.stderr, flush=True)
            return found + some
        if not some:
            raise GemmlabError(f"{tool} saw no launch: {' | '.join(out.splitlines()[-4:])}")
        found += some
        names = names[names.index(lost) + 1 :] if lost else []
    return found


def main(argv=None) -> int:
    options = parse(argv)
    if options.worker:
        return worker(options.kernels)
    import kernels

    here = device()
    if here.kind != "gpu":
        print(f"no GPU to check on: {here.reason}", file=sys.stderr)
        return 2
    if not shutil.which("compute-sanitizer"):
        print("compute-sanitizer is not on the PATH: it comes with the CUDA toolkit", file=sys.stderr)
        return 2
    try:
        chosen = [kernels.spec(name) for name in options.kernels] or kernels.LADDER
    except KeyError as error:
        print(error.args[0], file=sys.stderr)
        return 2
    specs = {spec.name: spec for spec in chosen if spec.language == "cuda" and spec.runs_on(here.cc)}
    broken = {name: spec for name in sanitizer.CONTROLS if (spec := sanitizer.kernel_of(name)[1]).runs_on(here.cc)}
    gate = 0
    for tool in options.tools.split(","):
        records, found = [], run(tool, list(specs), options.limit)
        found += run(tool, list(broken), options.limit) if tool == "racecheck" else []
        for name, shape, messages in found:
            spec, other = specs.get(name) or broken[name], name if name in broken else ""
            records.append(sanitizer.record(spec, shape, tool, messages, telemetry.today(), other))
            if messages:
                print(f"{tool}: {name} at {'x'.join(map(str, shape))}: {len(messages)}: {messages[0]}", flush=True)
                gate |= tool in sanitizer.GATES
        sanitizer.merge(options.out / f"{slug(here.name)}.json", telemetry.machine(telemetry.Telemetry()), records)
        clean = sum(not record["messages"] for record in records)
        print(f"{tool}: {clean} of {len(records)} launches clean", flush=True)
    return gate


if __name__ == "__main__":
    sys.exit(main())
