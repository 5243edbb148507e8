"""Record the bytes that a GPU moves for every tensor copy of tests/ptxemu/golden_tma.py.

    python3 tools/record_tma.py --out DIR

needs a GPU of compute capability 9.0 and CuPy; takes about a minute. Writes DIR/tma_goldens_<gpu>.json.gz: provenance,
and per case the words of shared memory after a load, or of the array after a store. Copy it to tests/ptxemu/data/.
"""

import argparse
import base64
import datetime
import gzip
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "ptxemu")]

from golden_tma import CASES, run  # noqa: E402

import gemmlab as gl  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the file")
    args = parser.parse_args()
    here = gl.device()
    if here.kind != "gpu":
        parser.error(f"no GPU: {here.reason}")
    recorded, refused = {}, []
    for name, case in CASES.items():
        try:
            recorded[name] = base64.b64encode(run(case, "gpu").tobytes()).decode()
        except gl.GemmlabError as error:
            refused.append(f"{name}: {error}")
    about = {"gpu": here.name, "driver": str(here.driver), "date": datetime.date.today().isoformat()}
    text = json.dumps({"recorded": about, "refused": refused, "cases": recorded}, separators=(",", ":"))
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / f"tma_goldens_{here.name.lower().replace(' ', '_')}.json.gz"
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{path}: {len(recorded)} cases, {path.stat().st_size:,} bytes; {len(refused)} refused")
    for line in refused:
        print("  refused", line)


if __name__ == "__main__":
    main()
