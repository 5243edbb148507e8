"""The hand-over from the sandbox to the scorer: one JSON file per answer in a folder that the grader names."""

import json
import os
from pathlib import Path

VARIABLE = "GEMMLAB_EXPORT"
INPUTS = "inputs.json"
LIMIT_BYTES = 8 << 20


def folder() -> Path | None:
    """Return the grader's folder, or None when no class is being graded."""
    name = os.environ.get(VARIABLE)
    return Path(name) if name else None


def inputs(folder: Path, exercise_id: str) -> list:
    """Return the inputs that the grader asks the answer for."""
    return json.loads((folder / INPUTS).read_text(encoding="utf-8")).get(exercise_id, [])


def write(folder: Path, exercise_id: str, record: dict) -> None:
    """Write the record of one answer."""
    text = json.dumps({"exercise": exercise_id, **record})
    (folder / f"{exercise_id}.json").write_text(text, encoding="utf-8")


def copy(sandbox: Path, trusted: Path, exercise_id: str) -> None:
    """Take one answer out of the sandbox's folder, if it is a plain file of sane size; links are not followed."""
    source = sandbox / f"{exercise_id}.json"
    if sandbox.is_symlink() or source.is_symlink() or not source.is_file() or source.stat().st_size > LIMIT_BYTES:
        return
    (trusted / source.name).write_bytes(source.read_bytes())


def read(folder: Path, exercise_id: str) -> dict | None:
    """Return the record of one answer, None if there is none; raise ValueError if it is not what `write` writes."""
    path = folder / f"{exercise_id}.json"
    if not path.is_file():
        return None
    record = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(record, dict) or record.get("exercise") != exercise_id:
        raise ValueError("the answer file is damaged")
    return record
