"""Record the bytes that a GPU moves for every tensor copy of tests/ptxemu/golden_tma.py.

    python3 tools/record_tma.py --out DIR

needs a GPU of compute capability 9.0 and CuPy; takes about a minute. Writes DIR/tma_goldens_<gpu>.json.gz: provenance,
and per case the words of shared memory after a load, or of the array after a store. Copy it to tests/ptxemu/data/.
Cases that this GPU's file there holds are kept, unless the driver is another one (--all: recorded again too). A case
that faults ends its process, is written down as refused, and another process goes on with the rest.
"""

import argparse
import base64
import datetime
import gzip
import json
import multiprocessing
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "ptxemu" / "data"
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "ptxemu")]

from golden_tma import CASES, run  # noqa: E402

import gemmlab as gl  # noqa: E402


def record(names, pipe):
    """Send (name, words as base64, refusal) per case, after (GPU, driver, reason why there is none); stop at a fault,
    which takes the process's context.
    """
    here = gl.device()
    pipe.send((here.name, str(here.driver), here.reason if here.kind != "gpu" else None))
    for name in names if here.kind == "gpu" else ():
        try:
            pipe.send((name, base64.b64encode(run(CASES[name], "gpu").tobytes()).decode(), None))
        except gl.GemmlabError as error:
            pipe.send((name, None, str(error)))
            if "restart Python" in str(error):
                return
        except Exception as error:  # noqa: BLE001
            pipe.send((name, None, f"{type(error).__name__}: {error}"))
            return


def record_some(names, until):
    """Let a process record ``names`` until a fault or the time ``until``; return (GPU, driver) and what it sent."""
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=record, args=(names, theirs))
    process.start()
    theirs.close()
    gpu, driver, reason = mine.recv()
    if reason:
        raise SystemExit(f"no GPU: {reason}")
    sent = []
    try:
        while len(sent) < len(names) and mine.poll(max(0, until - time.monotonic())):
            sent.append(mine.recv())
    except EOFError:
        pass
    process.terminate()
    process.join()
    return (gpu, driver), sent


def known(gpu, driver):
    """The record of this GPU in tests/ptxemu/data, or an empty one where its driver is another."""
    path = DATA / file_name(gpu)
    old = json.loads(gzip.decompress(path.read_bytes())) if path.exists() else {}
    if old and (old["recorded"]["gpu"], old["recorded"]["driver"]) == (gpu, driver):
        return old
    return {"cases": {}, "refused": {}}


def file_name(gpu):
    return f"tma_goldens_{gpu.lower().replace(' ', '_')}.json.gz"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the file")
    parser.add_argument("--limit", type=float, default=300, help="seconds after which the rest is left out")
    parser.add_argument("--all", action="store_true", help="record every case, not only those that are missing")
    args = parser.parse_args()
    until = time.monotonic() + args.limit
    (gpu, driver), _ = record_some([], until)
    before = {"cases": {}, "refused": {}} if args.all else known(gpu, driver)
    recorded, refused = before["cases"], before["refused"]
    rest = [name for name in CASES if name not in recorded and name not in refused]
    while rest and time.monotonic() < until:
        for name, words, why in record_some(rest, until)[1]:
            rest.remove(name)
            (refused if words is None else recorded)[name] = why if words is None else words
    about = {"gpu": gpu, "driver": driver, "date": datetime.date.today().isoformat()}
    text = json.dumps({"recorded": about, "refused": refused, "cases": recorded}, separators=(",", ":"))
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / file_name(gpu)
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{path}: {len(recorded)} cases, {path.stat().st_size:,} bytes; {len(refused)} refused, {len(rest)} left out")
    for name, why in refused.items():
        print(f"  refused {name}: {why}")


if __name__ == "__main__":
    main()
