"""Record what a GPU computes for every case of tests/ptxemu/golden_cases.py, golden_tensor.py and golden_wgmma.py.

    python3 tools/record_goldens.py --out DIR

needs a GPU of compute capability 9.0 (the cases say sm_90a) and CuPy; takes about a minute. Writes
DIR/goldens_<gpu>.json.gz, tensor_goldens_<gpu>.json.gz and wgmma_goldens_<gpu>.json.gz (``--only scalar``, ``tensor``
or ``wgmma``: one of them): provenance, and per case the raw result bits. Copy the files to tests/ptxemu/data/. The
operands are not stored: the files of cases make the same ones anywhere, and their checksum is recorded. Each case is
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

import golden_tensor  # noqa: E402
import golden_wgmma  # noqa: E402
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


def record_tensor(case, cupy):
    """Run one case of golden_tensor.py on the GPU: its entry in the record. Raises what CuPy raises."""
    words, image = case.make()
    inputs = hashlib.sha256(words.tobytes() + image.tobytes()).hexdigest()[:16]
    image, words = cupy.asarray(image), cupy.asarray(words if words.size else np.zeros(32, np.uint32))
    out, after = cupy.zeros((max(case.outputs, 1), 32), np.uint32), cupy.zeros(golden_tensor.IMAGE // 4, np.uint32)
    compiled = cupy.cuda.function.Module()
    compiled.load(golden_tensor.module(case).encode())
    compiled.get_function("golden")((1,), (32,), (image, words, out, after))
    cupy.cuda.runtime.deviceSynchronize()
    results = {"out": out, "shared": after, "image": image}
    return {"inputs": inputs} | {k: base64.b64encode(v.get().tobytes()).decode() for k, v in results.items()}


def record_wgmma(case, cupy):
    """Run one case of golden_wgmma.py on the GPU: its entry in the record. Raises what CuPy raises."""
    words, image = case.make()
    inputs = hashlib.sha256(words.tobytes() + image.tobytes()).hexdigest()[:16]
    out = cupy.zeros((case.sums, golden_wgmma.THREADS), np.uint32)
    compiled = cupy.cuda.function.Module()
    compiled.load(golden_wgmma.module(case).encode())
    arrays = cupy.asarray(image), cupy.asarray(words), out
    compiled.get_function("golden")((1,), (golden_wgmma.THREADS,), arrays)
    cupy.cuda.runtime.deviceSynchronize()
    bits = out.get().tobytes()
    if case.data == "integers":  # exact in any order: a digest tells, and the file stays small
        return {"inputs": inputs, "digest": hashlib.sha256(bits).hexdigest()[:16]}
    return {"inputs": inputs, "out": base64.b64encode(bits).decode()}


def record_scalar(case, cupy):
    """One case of golden_cases.py: its entry in the record."""
    result, operand_hash = record(case, cupy)
    return {"operands": operand_hash, "bits": base64.b64encode(result.tobytes()).decode()}


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


def write(cases, run, cupy, about, path):
    """Record ``cases`` with ``run`` and write the file; a refused case must not lose the others."""
    recorded, refused = {}, []
    for case in cases:
        try:
            recorded[case.name] = run(case, cupy)
        except Exception as error:  # noqa: BLE001
            refused.append(f"{case.name}: {str(error).splitlines()[0]}")
    text = json.dumps({"recorded": about, "refused": refused, "cases": recorded}, separators=(",", ":"))
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{path}: {len(recorded)} cases, {path.stat().st_size:,} bytes; {len(refused)} refused")
    for line in refused:
        print("  refused", line)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the files")
    parser.add_argument("--only", choices=("scalar", "tensor", "wgmma"), help="record one of the tables")
    args = parser.parse_args()
    try:
        import cupy
    except ImportError:
        parser.error("CuPy is missing: install cupy-cuda13x (or cupy-cuda12x)")
    about = provenance(cupy)
    gpu = about["gpu"].lower().replace(" ", "_")
    args.out.mkdir(parents=True, exist_ok=True)
    tables = {
        "scalar": (CASES, record_scalar, "goldens"),
        "tensor": (golden_tensor.CASES, record_tensor, "tensor_goldens"),
        "wgmma": (golden_wgmma.CASES, record_wgmma, "wgmma_goldens"),
    }
    for name, (cases, run, stem) in tables.items():
        if args.only in (None, name):
            write(cases, run, cupy, about, args.out / f"{stem}_{gpu}.json.gz")


if __name__ == "__main__":
    main()
