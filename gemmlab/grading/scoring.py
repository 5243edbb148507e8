"""The trusted scorer: ``python -m gemmlab.grading.scoring REQUEST``.

It reads exported answers, judges them and writes verdicts.

It runs in a process of its own and executes no Python of a learner: an answer is numbers, names, or PTX with a block
size, and PTX runs on the emulator. The request is a JSON file: chapter, key, gpu, seconds (of processor time, for one
exercise).
"""

import hashlib
import json
import signal
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from gemmlab.errors import CheckError, GemmlabError
from gemmlab.grading import export
from gemmlab.grading.exercise import Exercise, chapter
from gemmlab.grading.sandbox import ROOT

NO_ANSWER = "no answer arrived"
VERDICTS = "verdicts.jsonl"
MESSAGE_CHARS = 800


@dataclass(frozen=True)
class Verdict:
    """What one answer earned, and why."""

    exercise: str
    points: int
    out_of: int
    message: str


class _TimeUp(BaseException):
    """Raised by the alarm; not an Exception, so that no handler below swallows it."""


def version() -> str:
    """Return a hash of everything that judges (gemmlab, ptxemu, kernels): equal versions give equal verdicts."""
    digest = hashlib.sha256()
    for folder in ("gemmlab", "ptxemu", "kernels"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def hidden_rng(key: str, exercise_id: str) -> np.random.Generator:
    """Return the generator that draws the hidden cases: the same for the whole class, unknown without the key."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(f"{key}/{exercise_id}".encode()).digest()))


def inputs(chapter_name: str, key: str) -> dict[str, list]:
    """Return what the sandbox is told: the inputs of every function exercise, hidden ones included, without results."""
    return {item.id: item.inputs(hidden_rng(key, item.id)) for item in chapter(chapter_name) if item.kind == "function"}


def score(item: Exercise, folder: Path, key: str, seconds: float, gpu: bool) -> Verdict:
    """Judge one exported answer; every way to fail becomes a message."""
    try:
        with_time_limit(seconds)
        record = export.read(folder, item.id)
        if record is None:
            message, points = NO_ANSWER, 0
        elif "error" in record:
            message, points = str(record["error"]), 0
        else:
            rng = hidden_rng(key, item.id)
            verified = item.judge(record, item.inputs(rng))
            if gpu:
                item.judge(record, item.inputs(rng), backend="gpu")
            message, points = f"passed: {verified}", item.points
    except (CheckError, GemmlabError) as error:
        message, points = str(error), 0
    except _TimeUp:
        message, points = f"{item.id}: judging took {seconds:g} s of processor time; does the kernel loop for ever?", 0
    except Exception as error:  # a hostile record must not stop the class
        message, points = f"{item.id}: the answer cannot be judged ({type(error).__name__})", 0
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return Verdict(item.id, points, item.points, message[:MESSAGE_CHARS])


def with_time_limit(seconds: float) -> None:
    """Raise _TimeUp in this process after `seconds` of its processor time: a busy machine costs nobody points."""

    def up(*_):
        raise _TimeUp

    signal.signal(signal.SIGPROF, up)
    signal.setitimer(signal.ITIMER_PROF, seconds)


def main(path: Path) -> None:
    """Score every exercise of the request; append each verdict as soon as it is known."""
    request = json.loads(path.read_text(encoding="utf-8"))
    for item in chapter(request["chapter"]):
        verdict = score(item, path.parent / "export", request["key"], request["seconds"], request["gpu"])
        with open(path.parent / VERDICTS, "a", encoding="utf-8") as file:
            print(json.dumps(asdict(verdict)), file=file)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
