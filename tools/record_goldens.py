"""Record what a GPU computes for every case of tests/ptxemu/golden_cases.py.

    python3 tools/record_goldens.py --out DIR

needs a GPU of compute capability 9.0 (the cases say sm_90a) and CuPy; takes about a minute. Writes
DIR/goldens_<gpu>.json.gz: provenance, and per case the raw result bits. Copy the file to tests/ptxemu/data/. The
operands are not stored: golden_values.py makes the same ones anywhere, and their checksum is recorded. Each case is
one PTX module that the driver compiles, so a case that it refuses is reported and left out.
"""

import argparse
import base64
import datetime
import gzip
import hashlib
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "ptxemu"))

from golden_cases import CASES  # noqa: E402
from golden_ptx import TARGET, VERSION, module  # noqa: E402
from golden_values import COUNT, bits_of, operands  # noqa: E402


def dtype_of(kind):
    """NumPy type of an operand array: 8-bit kinds travel in 16 bits."""
    return np.dtype(f"u{max(16, bits_of(kind)) // 8}")


def checksum(columns):
    """Short hash of a case's operands."""
    return hashlib.sha256(b"".join(c.tobytes() for c in columns)).hexdigest()[:16]


def record(case, cupy):
    """Run one case on the GPU: (result array, operand checksum). Raises what CuPy raises."""
    columns = operands(case.kinds, case.seed, case.limit)
    inputs = [cupy.asarray(c.astype(dtype_of(k))) for c, k in zip(columns, case.kinds, strict=True)]
    result = cupy.zeros(COUNT, dtype_of(case.out))
    scratch = cupy.zeros(16 * COUNT, np.uint8)
    compiled = cupy.cuda.function.Module()
    compiled.load(module(case).encode())
    kernel = compiled.get_function("golden")
    kernel((COUNT // 32,), (32,), (*inputs, result, scratch))
    cupy.cuda.runtime.deviceSynchronize()
    return result.get(), checksum(columns)


def provenance(cupy):
    """Who recorded this: GPU, driver, compiler, date."""
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    driver = cupy.cuda.runtime.driverGetVersion()
    return {
        "gpu": properties["name"].decode(),
        "compute_capability": f"{properties['major']}.{properties['minor']}",
        "driver_cuda": f"{driver // 1000}.{driver % 1000 // 10}",
        "compiler": "ptxas of the driver",
        "nvrtc": ".".join(map(str, cupy.cuda.nvrtc.getVersion())),
        "ptx_version": VERSION,
        "target": TARGET,
        "date": datetime.date.today().isoformat(),
        "cupy": cupy.__version__,
        "values_per_case": COUNT,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for goldens_<gpu>.json.gz")
    out = parser.parse_args().out
    try:
        import cupy
    except ImportError:
        parser.error("CuPy is missing: install cupy-cuda13x (or cupy-cuda12x)")
    about = provenance(cupy)
    cases, refused = {}, []
    for case in CASES:
        try:
            result, operand_hash = record(case, cupy)
        except Exception as error:  # noqa: BLE001  the driver's refusal of one case must not lose the others
            refused.append(f"{case.name}: {str(error).splitlines()[0]}")
            continue
        cases[case.name] = {"operands": operand_hash, "bits": base64.b64encode(result.tobytes()).decode()}
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"goldens_{about['gpu'].lower().replace(' ', '_')}.json.gz"
    text = json.dumps({"recorded": about, "refused": refused, "cases": cases}, separators=(",", ":"))
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{path}: {len(cases)} cases, {path.stat().st_size:,} bytes; {len(refused)} refused")
    for line in refused:
        print("  refused", line)


if __name__ == "__main__":
    main()
