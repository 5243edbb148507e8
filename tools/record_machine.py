#!/usr/bin/env python3
"""Measure the machine (latencies, issue rate, copies, residency) and add it to results/<gpu>.json.

    python3 tools/record_machine.py [--only residency] [--out DIRECTORY]

About a minute on an H200. Each part is stored as soon as it is measured; one that fails is named and leaves an earlier
record as it was. Exit status 2 without a GPU, or when a part failed.
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
    parser.add_argument("--only", nargs="+", default=(), choices=machine.probes(), help="these probes alone")
    options = parser.parse_args(argv)
    if device().kind != "gpu":
        print(f"no GPU to measure on: {device().reason}", file=sys.stderr)
        return 2
    failed = False
    for name, found in machine.measure_machine(options.only):
        if not isinstance(found, Exception):
            try:
                store(name, found, options.out)
            except GemmlabError as error:
                found = error
        failed |= isinstance(found, Exception)
        if isinstance(found, Exception):
            print(f"{name}: not recorded: {type(found).__name__}: {found}", file=sys.stderr, flush=True)
        else:
            print(name, found["series"], flush=True)
    return 2 if failed else 0


def store(name: str, record: dict, directory: Path) -> None:
    """Add one probe's record to the results file of this GPU. Raises GemmlabError when the file does not fit."""
    about = telemetry.machine(telemetry.Telemetry())
    path = results.path_of(about["gpu"], directory)
    if path.exists():  # what other recorders found out about the machine stays
        about |= {key: value for key, value in results.load(path)["machine"].items() if not about.get(key)}
    results.merge(path, about, ceilings={name: record})


if __name__ == "__main__":
    sys.exit(main())
