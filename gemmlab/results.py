"""Measurement records: the only place that reads and writes `results/<gpu>.json`.

A file holds one GPU model: {"machine": {...}, "ceilings": {name: {...}}, "records": [...]}. Times are microseconds
per launch, rates TFLOP/s. A record keeps every sample of the kernel and of each rival, so that nobody has to believe
its medians: every reader recomputes `time_us`, `tflops` and `ratio` from the samples and rejects a record that
disagrees. Records are merged by (kernel, M, N, K, mode); writing replaces a file atomically.
"""

from __future__ import annotations

import json
import math
import os
import re
import statistics
import tempfile
from pathlib import Path

from gemmlab.errors import GemmlabError
from gemmlab.measuring.provenance import spec_sha256

DIRECTORY = Path(__file__).resolve().parent.parent / "results"
RIVAL_NAMES = {
    "cublas": "cuBLAS default",
    "cublas_tf32": "cuBLAS default, TF32",
    "cublaslt_first": "cuBLASLt, first heuristic",
    "cublaslt_best": "cuBLASLt, best of its first eight heuristics",
}
MODES = {  # what a figure's label adds to the GPU and the date
    "cold": "",
    "warm": ", warm L2",
    "sustained": ", sustained",
}
FIELDS = {  # name: type; every record has all of these
    "kernel": str,
    "chapter": str,
    "language": str,
    "dtype": str,
    "c_dtype": str,
    "layout": str,
    "compiler": str,
    "M": int,
    "N": int,
    "K": int,
    "mode": str,
    "rounds": int,
    "time_us": float,
    "tflops": float,
    "samples_us": list,
    "rivals": dict,
    "rival_samples_us": dict,
    "rival_best": str,
    "rival_best_tflops": float,
    "ratio": float,
    "rel_error": float,
    "clocks_mhz": dict,
    "power_w": dict,
    "date": str,
    "source_sha256": str,
}
TOLERANCE = 1e-6  # relative; stored values are the recomputed ones, rounding of JSON decimals aside


def slug(gpu_name: str) -> str:
    """Return the file stem of a device name: "NVIDIA H200" -> "nvidia_h200"."""
    return re.sub(r"[^a-z0-9]+", "_", gpu_name.lower()).strip("_")


def tflops(M: int, N: int, K: int, time_us: float) -> float:
    """Return the rate in TFLOP/s of a GEMM that took `time_us` microseconds."""
    return 2 * M * N * K / time_us / 1e6


def median(samples_us: list[float]) -> float:
    """Return the median of samples, in their unit."""
    return statistics.median(samples_us)


def derive(record: dict) -> dict:
    """Return the fields of `record` that follow from its samples: times, rates, the best rival and the ratio to it."""
    shape = record["M"], record["N"], record["K"]
    time_us = median(record["samples_us"])
    rivals = {name: tflops(*shape, median(samples)) for name, samples in record["rival_samples_us"].items()}
    best = max(rivals, key=rivals.get, default="")
    rate = tflops(*shape, time_us)
    return {
        "time_us": time_us,
        "tflops": rate,
        "rivals": rivals,
        "rival_best": best,
        "rival_best_tflops": rivals.get(best, 0.0),
        "ratio": rate / rivals[best] if best else 0.0,
    }


def dram_bytes(record: dict) -> float | None:
    """Return the DRAM bytes, read plus written, that the profiler saw in one launch; None where none was profiled."""
    seen = record.get("profile", {})
    if "dram_read_bytes" not in seen or "dram_write_bytes" not in seen:
        return None
    return seen["dram_read_bytes"] + seen["dram_write_bytes"]


def spread(samples_us: list[float]) -> tuple[float, float]:
    """Return the 10th and 90th percentile of samples in microseconds (the extremes when there are fewer than 10)."""
    if len(samples_us) < 10:
        return min(samples_us), max(samples_us)
    deciles = statistics.quantiles(samples_us, n=10, method="inclusive")
    return deciles[0], deciles[-1]


def validate(record: dict) -> dict:
    """Return `record` unchanged, or raise GemmlabError naming the first field that is missing, mistyped or untrue."""
    name = f"record of {record.get('kernel', '?')} at {'x'.join(str(record.get(s, '?')) for s in 'MNK')}"
    for key, kind in FIELDS.items():
        value = record.get(key)
        if not isinstance(value, (int, float) if kind is float else kind) or isinstance(value, bool):
            raise GemmlabError(f"{name}: field {key!r} must be a {kind.__name__}, not {value!r}")
    if not re.fullmatch(r"\d\d", record["chapter"]):
        raise GemmlabError(f"{name}: chapter must have two digits, not {record['chapter']!r}")
    if record["mode"] not in MODES:
        raise GemmlabError(f"{name}: mode must be one of {', '.join(MODES)}, not {record['mode']!r}")
    for who, samples in {"kernel": record["samples_us"], **record["rival_samples_us"]}.items():
        if not samples or not all(math.isfinite(s) and s > 0 for s in samples):
            raise GemmlabError(f"{name}: samples of {who} must be positive times in microseconds")
        if len(samples) != record["rounds"]:
            raise GemmlabError(f"{name}: {len(samples)} samples of {who}, but {record['rounds']} interleaved rounds")
    for key, value in derive(record).items():
        stored = record[key]
        pairs = [(stored.get(k), v) for k, v in value.items()] if isinstance(value, dict) else [(stored, value)]
        if isinstance(value, dict) and set(stored) != set(value) or not all(_same(a, b) for a, b in pairs):
            raise GemmlabError(
                f"{name}: {key} = {stored!r} does not follow from its samples ({value!r}); measure it again"
            )
    return record


def _same(stored, value) -> bool:
    if isinstance(value, str):
        return stored == value
    return isinstance(stored, (int, float)) and math.isclose(stored, value, rel_tol=TOLERANCE, abs_tol=1e-12)


def path_of(gpu_name: str, directory: Path | None = None) -> Path:
    """Return the results file of a GPU model."""
    return (directory or DIRECTORY) / f"{slug(gpu_name)}.json"


def load(path: Path | str) -> dict:
    """Read one results file and validate every record. Raises GemmlabError, naming the file, when it is not valid."""
    path = Path(path)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise GemmlabError(f"no results file {path}: record one with tools/record_gpu.py on a GPU") from None
    except (OSError, ValueError) as error:
        raise GemmlabError(
            f"{path} is not a readable results file ({error}); restore it from version control"
        ) from None
    if (
        not isinstance(data, dict)
        or not isinstance(data.get("machine"), dict)
        or not isinstance(data["machine"].get("gpu"), str)
        or not isinstance(data.get("records"), list)
        or not all(isinstance(record, dict) for record in data["records"])
    ):
        raise GemmlabError(f"{path} must hold 'machine' (with 'gpu') and 'records'; restore it from version control")
    data.setdefault("ceilings", {})
    for record in data["records"]:
        try:
            validate(record)
        except GemmlabError as error:
            raise GemmlabError(f"{path.name}: {error}") from None
    return data


def load_all(directory: Path | None = None) -> dict[str, dict]:
    """Read every results file; return {file stem: contents}, sorted by name. Empty when nothing was recorded yet."""
    return {path.stem: load(path) for path in sorted((directory or DIRECTORY).glob("*.json"))}


def find(
    kernel: str,
    M: int | None = None,
    N: int | None = None,
    K: int | None = None,
    mode: str = "cold",
    gpu: str = "nvidia_h200",
    directory: Path | None = None,
) -> list[dict]:
    """Return the records of a kernel on one GPU (file stem), at one shape where M, N, K are given, by shape."""
    path = (directory or DIRECTORY) / f"{gpu}.json"
    if not path.exists():
        return []
    wanted = {"kernel": kernel, "mode": mode, **{k: v for k, v in {"M": M, "N": N, "K": K}.items() if v is not None}}
    hits = [r for r in load(path)["records"] if all(r[k] == v for k, v in wanted.items())]
    return sorted(hits, key=lambda r: (r["M"], r["N"], r["K"]))


def show_time(us: float) -> str:
    """Write microseconds with three significant digits, in µs or ms."""
    value, unit = (us / 1e3, "ms") if us >= 999.5 else (us, "µs")
    value = float(f"{value:.3g}")
    digits = max(0, 2 - math.floor(math.log10(value)))
    return f"{value:.{digits}f} {unit}"


def gpu_name(stem: str, directory: Path | None = None) -> str:
    """Return the device name that a results file stands for: "nvidia_h200" -> "NVIDIA H200"."""
    path = (directory or DIRECTORY) / f"{stem}.json"
    return load(path)["machine"]["gpu"] if path.exists() else stem.replace("_", " ").upper()


def _key(record: dict) -> tuple:
    return tuple(record[k] for k in ("kernel", "M", "N", "K", "mode"))


def merge(path: Path | str, machine: dict, records: list[dict] = (), ceilings: dict | None = None) -> dict:
    """Add `records` and `ceilings` to the file at `path` and return its new contents.

    A new record replaces the one with the same (kernel, M, N, K, mode), and takes over its profile when it has none and
    belongs to the same source; all others stay. Raises GemmlabError, and
    leaves the file as it was, when a record is invalid or the file belongs to another GPU model.
    """
    path = Path(path)
    data = load(path) if path.exists() else {"machine": machine, "ceilings": {}, "records": []}
    if data["machine"].get("gpu") != machine.get("gpu"):
        raise GemmlabError(f"{path.name} holds {data['machine'].get('gpu')}, not {machine.get('gpu')}")
    kept = {_key(r): r for r in data["records"]}
    for record in records:
        old = kept.get(_key(validate(record)), {})
        if "profile" in old and old["source_sha256"] == record["source_sha256"]:
            record = {"profile": old["profile"], **record}
        kept[_key(record)] = record
    data = {
        "machine": machine,
        "ceilings": {**data["ceilings"], **(ceilings or {})},
        "records": sorted(kept.values(), key=lambda r: (r["chapter"], *_key(r))),
    }
    _write(path, data)
    return data


def _write(path: Path, data: dict):
    text = json.dumps(data, indent=1, sort_keys=False, allow_nan=False)
    # A list of numbers stays on one line: samples are read by programs, the rest by people and diffs.
    text = re.sub(r"\[\s+(-?[\d.][^\[\]{}\"]*?)\s+\]", lambda m: "[" + re.sub(r"\s+", " ", m.group(1)) + "]", text)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def stale(ladder, directory: Path | None = None) -> list[dict]:
    """Return one entry per record that no longer describes the tree: {gpu, kernel, M, N, K, mode, date, reason}.

    `ladder`: the Specs. A record is stale when its kernel is gone or when the kernel's source, one of its headers or
    its macros changed after it was measured.
    """
    current = {spec.name: spec_sha256(spec) for spec in ladder}
    out = []
    for stem, data in load_all(directory).items():
        for record in data["records"]:
            now = current.get(record["kernel"])
            if now == record["source_sha256"]:
                continue
            reason = "the kernel is not on the ladder" if now is None else "its source changed after the measurement"
            out.append(
                {"gpu": stem, **{k: record[k] for k in ("kernel", "M", "N", "K", "mode", "date")}, "reason": reason}
            )
    return out


def drop_stale(ladder, directory: Path | None = None) -> list[dict]:
    """Remove the records that `stale` names from their files and return its entries."""
    found = stale(ladder, directory)
    for stem in {entry["gpu"] for entry in found}:
        gone = {_key(entry) for entry in found if entry["gpu"] == stem}
        path = (directory or DIRECTORY) / f"{stem}.json"
        data = load(path)
        _write(path, {**data, "records": [record for record in data["records"] if _key(record) not in gone]})
    return found
