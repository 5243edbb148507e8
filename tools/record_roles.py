#!/usr/bin/env python3
"""Record when roles wait and work, and when each SM multiplies and stores: add both to results/<gpu>.json.

    python3 tools/record_roles.py [--out DIRECTORY]

A few seconds on an H200. Exit status 2 without a GPU.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from gemmlab import results  # noqa: E402
from gemmlab.device import device  # noqa: E402
from gemmlab.measuring import roles, telemetry, waves  # noqa: E402
from tools.record_machine import store  # noqa: E402


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=results.DIRECTORY, help="directory of the results files")
    options = parser.parse_args(argv)
    if device().kind != "gpu":
        print(f"no GPU to measure on: {device().reason}", file=sys.stderr)
        return 2
    roles.measure_roles()  # the first launch finds cold instruction caches
    cycles = roles.measure_roles()
    how = f"stamps of %clock in CTA {roles.CTA} of {roles.KERNEL}: before and after each wait, and after the work"
    record = {"cycles": cycles.tolist(), "shape": list(roles.SHAPE), "unit": "cycles", "how": how}
    store("roles", record | {"date": telemetry.today()}, options.out)
    print("cycles from the first to the last tile:", [int(moments[-1, 2] - moments[0, 0]) for moments in cycles])
    for name in waves.PLACES:
        waves.measure_waves(name)
    stamps = {name: waves.measure_waves(name) for name in waves.PLACES}
    record = {"stamps": {name: found.tolist() for name, found in stamps.items()}, "shape": list(waves.SHAPE)}
    how = "stamps of %globaltimer and %smid for each tile: before its first product, after its last, after its stores"
    store("waves", record | {"unit": "ns", "how": how, "date": telemetry.today()}, options.out)
    for name, found in stamps.items():
        print(f"{name}: {len(found)} tiles on {len(set(found[:, 0]))} SMs, {found[:, 3].max()} ns")
    return 0


if __name__ == "__main__":
    sys.exit(main())
