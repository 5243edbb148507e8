"""Record which arguments of cuTensorMapEncodeTiled this GPU's driver accepts.

    python3 tools/record_tensormaps.py --out DIR

needs a GPU of compute capability 9.0 or later, cuda-bindings and CuPy; takes seconds. Writes DIR/tensormaps_<gpu>.json:
provenance and the driver's status for every case of tests/gemmlab/tensormap_cases.py. Copy it to tests/gemmlab/data/.
"""

import argparse
import datetime
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "gemmlab")]

from tensormap_cases import CASES  # noqa: E402

from gemmlab import compat  # noqa: E402
from gemmlab.tensormap import DTYPES  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for the file")
    args = parser.parse_args()
    cupy = compat.import_cupy()
    memory = cupy.zeros(1 << 20, cupy.uint8)
    base = memory.data.ptr
    if base % 256:
        parser.error(f"the allocation at {base:#x} is not aligned to 256 bytes")
    verdicts = {}
    for name, tiled in CASES.items():
        verdicts[name] = compat.encode_tensor_map(tiled, DTYPES[tiled.dtype][0], base + tiled.address)[0]
    gpu = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    driver = cupy.cuda.runtime.driverGetVersion()
    about = {
        "gpu": gpu,
        "driver_cuda": f"{driver // 1000}.{driver % 1000 // 10}",
        "date": datetime.date.today().isoformat(),
        "cuda_bindings": compat.version("cuda-bindings"),
    }
    args.out.mkdir(parents=True, exist_ok=True)
    path = args.out / f"tensormaps_{gpu.lower().replace(' ', '_')}.json"
    path.write_text(json.dumps({"recorded": about, "verdicts": verdicts}, indent=1) + "\n", encoding="utf-8")
    accepted = sum(status == "CUDA_SUCCESS" for status in verdicts.values())
    print(f"{path}: {len(verdicts)} cases, {accepted} accepted")


if __name__ == "__main__":
    main()
