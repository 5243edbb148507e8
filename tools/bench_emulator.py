"""How fast the emulator is: one JSON line per case with "case", "cpu_s", "limit_s" (CPU seconds of all cores), "mb" and
"limit_mb" (peak memory).

    python -m tools.bench_emulator [--out FILE]        (or: make bench-emulator)

``--out``: the same lines, with the machine and the date, for the table of book/emulator.md. Each case is a process of
its own, and the best of three launches after one that compiles. The last line is the speed against Numba's own
simulator, whose time for one block is measured and multiplied by the number of blocks. Exit code 1 if a limit is
missed.
"""

import argparse
import datetime
import json
import multiprocessing
import os
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
sys.path.insert(1, str(ROOT / "tests" / "ptxemu"))

import hopper_gemm  # noqa: E402
from compiling import KERNELS, nvrtc_ptx  # noqa: E402

import kernels  # noqa: E402
import ptxemu  # noqa: E402
from gemmlab.launch import launch  # noqa: E402
from gemmlab.rules import evaluate_rule, launch_rule, rule_args  # noqa: E402

LIMIT_MB = 500
SIMULATOR = """
import sys, time
import numpy as np
sys.path.insert(0, sys.argv[1])
import kernels, importlib
spec = kernels.spec(sys.argv[2])
kernel = getattr(importlib.import_module("kernels." + spec.file[:-3].replace("/", ".")), spec.entry)
M, N, K = spec.tile["BM"], spec.tile["BN"], int(sys.argv[3])
A, B, C = np.ones((M, K), np.float32), np.ones((K, N), np.float32), np.zeros((M, N), np.float32)
start = time.process_time()
kernel[(1, 1), spec.block](A, B, C)
print(time.process_time() - start)
assert (C == K).all()
"""


def emulate(name, M, N, K, check=False, count=False, rounds=3):
    """CPU seconds of one launch of the kernel ``name`` on the emulator, compilation excluded; the result is
    compared with NumPy.
    """
    spec = kernels.spec(name)
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((M, K)).astype(np.float32), rng.standard_normal((K, N)).astype(np.float32)
    C = np.full((M, N), np.nan, np.float32)
    rule = launch_rule(spec)
    grid, block, shared = evaluate_rule(rule, M, N, K)
    args = rule_args(rule, A=A, B=B, C=C, M=M, N=N, K=K, alpha=1.0, beta=0.0)
    best = float("inf")
    for _ in range(rounds + 1):
        start = time.process_time()
        launch(spec, *args, grid=grid, block=block, shared=shared, backend="emulator", check=check, count=count)
        best = min(best, time.process_time() - start)
    if not np.allclose(C, A @ B, atol=1e-3):
        sys.exit(f"{name}: the emulated result is wrong; nothing is measured")
    return best


def tensor(name, grid, block, check=False, rounds=3):
    """CPU seconds of a 512 x 512 x 512 product by a kernel of tests/ptxemu/kernels/valid_tensor.cu, compared with
    NumPy; FP16 in, FP32 out.
    """
    text = (KERNELS / "valid_tensor.cu").read_text()
    entry = ptxemu.load(nvrtc_ptx(text, "valid_tensor.cu", "90a", (f"-I{KERNELS}",))).entry(name)
    A, B = np.random.default_rng(0).integers(-4, 5, (2, 512, 512)).astype(np.float16)
    C = np.full((512, 512), np.nan, np.float32)
    best = float("inf")
    for _ in range(rounds + 1):
        start = time.process_time()
        ptxemu.launch(entry, grid, block, [A, B, C, 512, 512], check=check, count=check)
        best = min(best, time.process_time() - start)
    if not np.array_equal(C, A.astype(np.float32) @ B.astype(np.float32)):
        sys.exit(f"{name}: the emulated result is wrong; nothing is measured")
    return best


def hopper(m, n, k, check=False, rounds=3):
    """CPU seconds of kernels/hopper_gemm.cu (TMA, mbarriers, wgmma) of that size, compared with NumPy."""
    best = float("inf")
    for _ in range(rounds + 1):
        report, c, expected = hopper_gemm.launch(m, n, k, check=check, count=check)
        best = min(best, report.cpu_s)
    if not np.array_equal(c, expected):
        sys.exit("hopper_gemm: the emulated result is wrong; nothing is measured")
    return best


def run_python(code, *args, **environment):
    """Output of a fresh Python process."""
    done = subprocess.run(
        [sys.executable, "-c", code, *args], capture_output=True, text=True, env=os.environ | environment, cwd=ROOT
    )
    if done.returncode:
        sys.exit(f"a child process failed: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout


def simulator_seconds(name, M, N, K):
    """CPU seconds that Numba's simulator needs, from one block."""
    tile = kernels.spec(name).tile
    one_block = float(run_python(SIMULATOR, str(ROOT), name, str(K), NUMBA_ENABLE_CUDASIM="1"))
    return one_block * (M // tile["BM"]) * (N // tile["BN"])


def import_seconds():
    """CPU seconds that importing the emulator takes."""
    code = "import time; s = time.process_time(); import ptxemu; print(time.process_time() - s)"
    return min(float(run_python(code)) for _ in range(2))


def cases():
    """(case, limit in CPU seconds, function, its arguments) of every case."""
    yield "import ptxemu", 1.5, import_seconds, ()
    for spec in kernels.RUNGS:
        if spec.chapter <= "09":
            yield f"{spec.name} 256x256x256", 0.6, emulate, (spec.name, 256, 256, 256)
            yield f"{spec.name} 256x256x256, checked and counted", 2.4, emulate, (spec.name, 256, 256, 256, True, True)
    for name in ("k07_register_2d", "k08_vectorised"):
        if any(spec.name == name for spec in kernels.LADDER):
            yield f"{name} 128x128x256 (one tile)", 0.25, emulate, (name, 128, 128, 256)
    for name, grid, block in (("pipelined_gemm", (16, 16), 128), ("wmma_gemm", (32, 16), 64)):
        yield f"{name} 512x512x512", 0.5, tensor, (name, grid, block)
        yield f"{name} 512x512x512, checked and counted", 2.0, tensor, (name, grid, block, True)
    yield "hopper_gemm 128x128x256 (one tile)", 0.25, hopper, (128, 128, 256)
    yield "hopper_gemm 512x512x512", 0.5, hopper, (512, 512, 512)
    yield "hopper_gemm 512x512x512, checked and counted", 2.0, hopper, (512, 512, 512, True)
    name = "k05_tiled_square"
    limit = simulator_seconds(name, 128, 128, 128) / 100
    yield f"{name} 128x128x128, a hundredth of Numba's simulator", limit, emulate, (name, 128, 128, 128)


def apart(function, *args):
    """(what ``function`` returns, peak memory in MB) in a process of its own."""

    def child(pipe):
        pipe.send((function(*args), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))

    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=child, args=(theirs,))
    process.start()
    theirs.close()
    try:
        return mine.recv()
    except EOFError:
        sys.exit("a case failed, see above")
    finally:
        process.join()


def processor():
    """Name of this machine's processor."""
    for line in Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else ():
        if line.startswith("model name"):
            return f"{line.partition(':')[2].strip()}, {os.cpu_count()} threads"
    return platform.processor() or "unknown processor"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, help="file for the lines")
    args = parser.parse_args()
    missed, lines = False, []
    for case, limit, function, values in cases():
        seconds, peak = apart(function, *values)
        lines.append({"case": case, "cpu_s": round(seconds, 4), "limit_s": round(limit, 4), "mb": round(peak)})
        print(json.dumps(lines[-1] | {"limit_mb": LIMIT_MB}), flush=True)
        missed |= seconds > limit or peak > LIMIT_MB
    if args.out:
        about = {"cpu": processor(), "python": platform.python_version(), "date": datetime.date.today().isoformat()}
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps({"recorded": about, "cases": lines}, indent=1) + "\n", encoding="utf-8")
    sys.exit(missed)


if __name__ == "__main__":
    main()
