#!/usr/bin/env python3
"""Measure the machine (latencies, issue rate, copies, residency) and add it to results/<gpu>.json.

    python3 tools/record_machine.py [--out DIRECTORY]

About a minute on an H200. Exit status 2 without a GPU.
"""

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from gemmlab import results  # noqa: E402
from gemmlab.device import device  # noqa: E402
from gemmlab.errors import GemmlabError  # noqa: E402
from gemmlab.measuring import machine, telemetry  # noqa: E402


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=results.DIRECTORY, help="directory of the results files")
    options = parser.parse_args(argv)
    if device().kind != "gpu":
        print(f"no GPU to measure on: {device().reason}", file=sys.stderr)
        return 2
    try:
        found = machine.measure_machine()
        about = telemetry.machine(telemetry.Telemetry())
        path = results.path_of(about["gpu"], options.out)
        if path.exists():  # what other recorders found out about the machine stays
            about |= {key: value for key, value in results.load(path)["machine"].items() if not about.get(key)}
        results.merge(path, about, ceilings=found)
    except GemmlabError as error:
        print(error, file=sys.stderr)
        return 2
    for name, record in found.items():
        print(name, record["series"], flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
