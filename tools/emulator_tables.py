"""Tables of book/emulator.md (tools/results_tables.py): what the emulator agrees with, and how fast it is."""

import gzip
import json
from pathlib import Path

from gemmlab.errors import GemmlabError

ROOT = Path(__file__).resolve().parent.parent
SPEED = ROOT / "results" / "emulator" / "speed.json"
DATA = ROOT / "tests" / "ptxemu" / "data"
GPU = "nvidia_h200"
CHECKED = ", checked and counted"
# file, what it holds, the key of its cases, the tool that records it, how the emulator agrees
RECORDS = (
    ("goldens_{}.json.gz", "arithmetic, conversions, comparisons, bits, atomics, exchanges in a warp", "cases",
     "record_goldens.py", "every bit; what PTX only bounds (`sin`, `ex2`, …) within its bound"),
    ("tensor_goldens_{}.json.gz", "`wmma`, `mma.sync`, `ldmatrix`, `stmatrix`, `movmatrix`, `cp.async`", "cases",
     "record_goldens.py", "every bit"),
    ("wgmma_goldens_{}.json.gz", "`wgmma`: types, widths, signs, every field of the descriptor", "cases",
     "record_goldens.py", "every bit"),
    ("tma_goldens_{}.json.gz", "tensor copies: ranks, boxes, swizzles, steps, edges, fills, reductions", "cases",
     "record_tma.py", "every byte of the destination"),
    ("tma_goldens_{}.json.gz", "tensor copies at which the GPU stops with an illegal instruction", "refused",
     "record_tma.py", "each is an error with its line"),
    ("../../gemmlab/data/tensormaps_{}.json", "arguments of tensor maps", "verdicts", "record_tensormaps.py",
     "the driver's verdict"),
    ("patterns_{}.json", "access patterns: sectors, wavefronts, conflicts", "patterns", "record_patterns.py",
     "the profiler's counts"),
    ("wgmma_patterns_{}.json", "operands of `wgmma` in shared memory: wavefronts, conflicts", "patterns",
     "record_patterns.py --wgmma", "the profiler's counts"),
)  # fmt: skip


def goldens() -> tuple[list[str], list[list[str]], str]:
    """Return (column titles, rows, note) of what was recorded on a GPU and is compared by the tests."""
    rows, dates = [], set()
    for name, what, key, tool, agrees in RECORDS:
        path = DATA / name.format(GPU)
        if not path.exists():
            rows.append([what, "not recorded yet", agrees, f"`{tool}`"])
            continue
        raw = path.read_bytes()
        data = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
        dates.add((data["recorded"]["gpu"], data["recorded"]["date"]))
        rows.append([what, f"{len(data[key]):,}", agrees, f"`{tool}`"])
    when = "; ".join(f"{gpu}, {date}" for gpu, date in sorted(dates))
    return ["recorded", "cases", "the emulator gives", "tool"], rows, f"\nRecorded on {when}.\n"


def speed() -> tuple[list[str], list[list[str]], str]:
    """Return (column titles, rows, note) of `make bench-emulator`."""
    if not SPEED.exists():
        raise GemmlabError(f"{SPEED} is missing: write it with python -m tools.bench_emulator --out {SPEED}")
    data = json.loads(SPEED.read_text())
    cases = {case["case"]: case for case in data["cases"]}
    rows = []
    for name, case in cases.items():
        if name.endswith(CHECKED):
            continue
        row = [name, f"{case['cpu_s']:.3f}", f"{case['limit_s']:.2f}", "", "", "", f"{case['mb']}"]
        checked = cases.get(name + CHECKED)
        if checked:
            times = checked["cpu_s"] / case["cpu_s"]
            row[3:] = f"{checked['cpu_s']:.3f}", f"{checked['limit_s']:.2f}", f"{times:.1f}", f"{checked['mb']}"
        rows.append(row)
    about = data["recorded"]
    note = f"\nProcessor time, best of three launches after one that compiles; {about['cpu']}, {about['date']}.\n"
    return ["case", "CPU seconds", "limit", "checked and counted", "limit", "times", "peak MB"], rows, note
