"""Record the bytes that a GPU moves for every tensor copy of tests/ptxemu/golden_tma.py.

    python3 tools/record_tma.py --out DIR

needs a GPU of compute capability 9.0 and CuPy; takes about a minute. Writes DIR/tma_goldens_<gpu>.json.gz: provenance,
and per case the words of shared memory after a load, or of the array after a store. Copy it to tests/ptxemu/data/.
A case that faults ends its process, is written down as refused, and another process goes on with the rest.
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the file")
    parser.add_argument("--limit", type=float, default=300, help="seconds after which the rest is left out")
    args, started = parser.parse_args(), time.monotonic()
    context = multiprocessing.get_context("fork")
    recorded, refused, rest = {}, {}, list(CASES)
    while rest and time.monotonic() - started < args.limit:
        mine, theirs = context.Pipe(duplex=False)
        process = context.Process(target=record, args=(rest, theirs))
        process.start()
        theirs.close()
        gpu, driver, reason = mine.recv()
        if reason:
            parser.error(f"no GPU: {reason}")
        try:
            while rest and mine.poll(max(0, started + args.limit - time.monotonic())):
                name, words, why = mine.recv()
                rest.remove(name)
                (refused if words is None else recorded)[name] = why if words is None else words
        except EOFError:
            pass
        process.terminate()
        process.join()
    about = {"gpu": gpu, "driver": driver, "date": datetime.date.today().isoformat()}
    text = json.dumps({"recorded": about, "refused": refused, "cases": recorded}, separators=(",", ":"))
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / f"tma_goldens_{gpu.lower().replace(' ', '_')}.json.gz"
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{path}: {len(recorded)} cases, {path.stat().st_size:,} bytes; {len(refused)} refused, {len(rest)} left out")
    for name, why in refused.items():
        print(f"  refused {name}: {why}")


if __name__ == "__main__":
    main()
