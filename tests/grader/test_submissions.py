"""Every exercise: the model solution and other right answers pass, each wrong answer fails for its stated reason."""

import time

import numpy as np
import pytest

from gemmlab import CheckError
from gemmlab.grading.exercise import CHAPTERS, chapter, exercise

CHECK_S = 5  # the promise is for two free cores; CPU time of one process is what can be asserted
EVERY = [item for name in CHAPTERS for item in chapter(name)]
LEAST_WRONG = 5


@pytest.fixture(autouse=True)
def same_data(monkeypatch):
    """Give every check the same data each time: a rare element that is right by chance changes the words."""
    drawn = np.random.default_rng
    monkeypatch.setattr(np.random, "default_rng", lambda seed=None: drawn(0 if seed is None else seed))


def judged(exercise_id, answer):
    """Judge an answer as the class's grader does, hidden cases included."""
    item = exercise(exercise_id)
    inputs = item.inputs(np.random.default_rng(7))
    return item.judge(item.record(answer, inputs), inputs)


def cpu_seconds(item, answer):
    started = time.process_time()
    item.check(answer)
    return time.process_time() - started


@pytest.mark.parametrize("item", EVERY, ids=lambda item: item.id)
def test_the_model_solution_passes(item, model_answer, capsys):
    answer = model_answer(item.id)
    seconds = cpu_seconds(item, answer)
    printed = capsys.readouterr()
    assert printed.out.startswith(f"{item.id} passed: ") and printed.out.count("\n") == 1
    assert printed.err == "", "warnings and progress bars do not belong into checked output"
    # Where the emulator's loops have never run, the first check waits for their compilation, once per machine.
    assert seconds < CHECK_S or cpu_seconds(item, answer) < CHECK_S
    assert judged(item.id, answer)


@pytest.mark.parametrize("item", EVERY, ids=lambda item: item.id)
def test_the_skeleton_does_not_pass(item, skeleton_answer):
    with pytest.raises(CheckError, match=rf"^{item.id}"):
        item.check(skeleton_answer(item.id))


def test_another_right_answer_passes(right, answer_of):
    exercise_id, _, entry = right
    assert judged(exercise_id, answer_of(exercise_id, entry))


def test_a_wrong_answer_fails_for_its_reason(wrong, answer_of):
    exercise_id, _, entry = wrong
    with pytest.raises(CheckError, match=entry["says"]) as raised:
        answer = answer_of(exercise_id, entry)
        if entry.get("hidden"):
            judged(exercise_id, answer)
        else:
            exercise(exercise_id).check(answer)
    assert str(raised.value).startswith(exercise_id)
    assert "Traceback" not in str(raised.value)


@pytest.mark.parametrize("item", EVERY, ids=lambda item: item.id)
def test_an_exercise_has_enough_submissions(item, counts):
    assert counts["right"][item.id] >= 1, f"{item.id} has no second right answer"
    assert counts["wrong"][item.id] >= LEAST_WRONG, f"{item.id} has only {counts['wrong'][item.id]} wrong answers"


def test_every_exercise_has_a_solution_and_every_solution_an_exercise(models):
    assert {item.id for item in EVERY} == set(models)


def test_ids_are_unique_and_belong_to_their_chapter():
    ids = [item.id for item in EVERY]
    assert len(set(ids)) == len(ids)
    assert all(item.id.startswith(f"{name}.") for name in CHAPTERS for item in chapter(name))
