"""A whole class through ``gemmlab grade``: honest answers score, all else costs one line and only its own points.

Chapter 02 stands in for all chapters where only the pipeline matters: it needs no emulator, so that it runs fast.
"""

import csv
import json
import re

import nbformat
import pytest

from gemmlab import Device, GemmlabError, gpu
from gemmlab.grading import grade, scoring
from gemmlab.grading.exercise import chapter
from gemmlab.grading.report_html import page_name, write_reports
from gemmlab.grading.scoring import Verdict

KEY = "the instructor's secret"
HANG = "while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass"
FORGED = """
import json, os
folder = os.environ["GEMMLAB_EXPORT"]
verdict = {"exercise": "02.2", "points": 1000, "out_of": 10, "message": "passed"}
json.dump(verdict, open(folder + "/02.2.json", "w"))
json.dump(verdict, open(folder + "/verdicts.jsonl", "w"))
os.symlink("/etc/passwd", folder + "/02.4.json")
json.dump({"exercise": "02.1", "value": [[[]]]}, open(folder + "/02.1.json", "w"))
"""
PATCHED = """
least_ms = 5
item = gl.exercise("02.1")
type(item).check = lambda self, answer: print(f"{self.id} passed: everything")
gl.exercise = lambda name: item
print("02.1 passed")
"""
STUDENTS = {
    "exits": {"02.1": "least_ms = 0.139\nimport os\nos._exit(0)", "02.2": HANG},
    "forger": {"02.1": FORGED, "02.2": "def intensity(*sizes): return 1", "02.3": "raise SystemExit",
               "02.4": "%nosuchmagic"},
    "patcher": {"02.1": PATCHED},
    "hog": {"02.1": "hog = [0] * (10 << 30)", "02.2": "# NBVAL_SKIP\ndef intensity(*sizes): return 1",
            "02.3": "memory_bound = nothing"},
    "<b>&Co": {"02.1": "least_ms = ...",
               "02.4": "def attainable(i, p, b):\n    raise ValueError('<script>alert(1)</script>')"},
}


@pytest.fixture(scope="module")
def results(tmp_path_factory, models):
    """Grade the class once; return (results by student, output folder)."""
    folder = tmp_path_factory.mktemp("class")
    template = json.loads((grade.sandbox.ROOT / "exercises" / "02_gemm_and_roofline.ipynb").read_text())
    model = {exercise: source for exercise, (source, _) in models.items()}

    def hand_in(student, answers):
        data = json.loads(json.dumps(template))
        for cell in data["cells"]:
            exercise = cell["metadata"].get("gemmlab", {}).get("exercise")
            if answers is not None and exercise and "exercise" in cell["metadata"]["tags"]:
                cell["source"] = answers.get(exercise, model[exercise])
        path = folder / student / "02_gemm_and_roofline.ipynb"
        path.parent.mkdir()
        path.write_text(json.dumps(data), encoding="utf-8")

    hand_in("honest", {})
    hand_in("untouched", None)
    for student, answers in STUDENTS.items():
        hand_in(student, answers)
    (folder / "broken").mkdir()
    (folder / "broken" / "02_gemm_and_roofline.ipynb").write_text("{ not json")
    (folder / "absent").mkdir()
    (folder / "absent" / "03_naive.ipynb").write_text("{}")  # of a chapter that is not graded here
    (folder / "absent" / "homework.ipynb").write_text("{}")
    out = tmp_path_factory.mktemp("out")
    assert grade.main([str(folder), "--out", str(out), "--chapter", "02", "--key", KEY, "--cell-seconds", "8",
                       "--jobs", "2"]) == 0
    with open(out / "scores.csv", encoding="utf-8", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}, out


def page(results, student):
    """Return a student's page without the student's own answers."""
    text = (results[1] / page_name(student)).read_text(encoding="utf-8")
    return re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)


def points(results, student):
    return [int(results[0][student][name]) for name in ("02.1", "02.2", "02.3", "02.4")]


def test_an_honest_class_member_gets_everything(results):
    assert points(results, "honest") == [10, 10, 10, 10]
    assert results[0]["honest"]["notes"] == ""


def test_a_page_shows_the_answers_that_were_graded_and_by_which_checks(results):
    text = (results[1] / page_name("exits")).read_text(encoding="utf-8")
    assert "os._exit(0)" in text and "least_ms = 0.139" in text
    assert f"Checks: version {scoring.version()}" in text


def test_nobody_is_lost(results):
    assert set(results[0]) == {"honest", "untouched", "broken", "absent", *STUDENTS}
    index = (results[1] / "index.html").read_text(encoding="utf-8")
    assert all(page_name(student) in index for student in results[0])


def test_an_untouched_notebook_is_not_finished(results):
    assert points(results, "untouched") == [0, 0, 0, 0]
    assert page(results, "untouched").count("is not finished") == 4


def test_exit_and_hang_cost_their_own_points_only(results):
    assert points(results, "exits") == [0, 0, 10, 10]
    assert "the kernel died in this cell" in page(results, "exits")
    assert "Timeout of 8 seconds" in page(results, "exits")


def test_forged_files_earn_nothing(results):
    assert points(results, "forger") == [0, 0, 0, 0]
    assert "SystemExit" in page(results, "forger") and "nosuchmagic" in page(results, "forger")
    assert "root:" not in page(results, "forger")


def test_a_patched_check_and_a_printed_pass_earn_nothing(results):
    assert points(results, "patcher") == [0, 0, 0, 0]
    assert "no answer arrived" in page(results, "patcher")


def test_memory_names_and_skipped_cells_are_explained(results):
    assert points(results, "hog") == [0, 0, 0, 10]
    text = page(results, "hog")
    assert "MemoryError" in text and "NameError: name &#x27;nothing&#x27; is not defined" in text
    assert "name &#x27;intensity&#x27; is not defined" in text


def test_broken_and_absent_students_have_one_line(results):
    assert points(results, "broken") == points(results, "absent") == [0, 0, 0, 0]
    assert results[0]["broken"]["notes"].endswith("is not a notebook: it is no valid JSON")
    stray = "homework.ipynb belongs to no chapter: name it like the exercise notebook"
    assert results[0]["absent"]["notes"] == f"02: not handed in; 02: {stray}"


def test_everything_shown_is_escaped(results):
    text = page(results, "<b>&Co")
    assert "<script>" not in text and "<b>" not in text and "&lt;b&gt;&amp;Co" in text
    assert points(results, "<b>&Co") == [0, 10, 10, 0]
    assert "raised ValueError" in text


def test_feedback_holds_no_hidden_case_and_no_solution(results):
    hidden = [case for item in chapter("02") for case in item.inputs(scoring.hidden_rng(KEY, item.id))[3:]]
    numbers = {str(value) for case in hidden for value in case if isinstance(value, int) and value > 500}
    numbers -= {"4096", "1024"}
    for student in results[0]:
        text = page(results, student)
        assert "BEGIN SOLUTION" not in text and "intensity * bandwidth" not in text
        assert not numbers & set(re.findall(r"\d+", re.sub(r"<style>.*</style>", "", text, flags=re.DOTALL)))


def test_hidden_cases_follow_the_key():
    one, same, other = (scoring.inputs("02", key) for key in ("a", "a", "b"))
    assert one == same != other


@pytest.mark.parametrize(("arguments", "says"), [
    (["/nowhere"], "there is no folder /nowhere"),
    (["{empty}"], "holds no notebook of a chapter: expected student/NN_slug.ipynb"),
    (["{packed}"], "only class.zip: unpack it there"),
    (["{empty}", "--exercises", "{empty}"], "holds no exercise notebooks"),
])
def test_bad_arguments_are_one_line(tmp_path, arguments, says):
    packed = tmp_path / "packed"
    packed.mkdir()
    (packed / "class.zip").touch()
    arguments = [text.format(empty=tmp_path / "empty", packed=packed) for text in arguments]
    (tmp_path / "empty").mkdir()
    with pytest.raises(GemmlabError, match=says) as raised:
        grade.main([*arguments, "--out", str(tmp_path / "out")])
    assert "\n" not in str(raised.value)


def test_grading_on_a_gpu_needs_one(monkeypatch, tmp_path):
    """Without this refusal every kernel would fail, and honest students would get nothing."""
    monkeypatch.setattr(gpu, "device", lambda: Device("none", reason="no NVIDIA driver found"))
    with pytest.raises(GemmlabError, match="is not possible here: no NVIDIA driver found"):
        grade.main([str(tmp_path), "--gpu", "--out", str(tmp_path / "out")])


def test_a_corrupt_exercise_notebook_is_one_line(tmp_path):
    (tmp_path / "02_gemm_and_roofline.ipynb").write_text("{ cut off")
    with pytest.raises(GemmlabError, match="is not a notebook: restore it with `make sync`"):
        grade.main([str(tmp_path), "--exercises", str(tmp_path), "--out", str(tmp_path / "out")])


def test_an_interrupt_keeps_what_is_graded(monkeypatch, tmp_path):
    for student in ("ada", "bob"):
        (tmp_path / "class" / student).mkdir(parents=True)
        (tmp_path / "class" / student / "02_gemm_and_roofline.ipynb").write_text("{}")

    def graded(job, options):
        if job[0] == "bob":
            raise KeyboardInterrupt
        return grade.Result(job[0], "02", [Verdict("02.1", 10, 10, "passed")])

    monkeypatch.setattr(grade, "_graded", graded)
    with pytest.raises(GemmlabError, match="interrupted: 1 of 2 notebooks are graded, in .*out"):
        grade.main([str(tmp_path / "class"), "--out", str(tmp_path / "out"), "--chapter", "02"])
    assert "ada,10" in (tmp_path / "out" / "scores.csv").read_text(encoding="utf-8")
    assert "1 of 2 notebooks are not graded" in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")


def test_a_failure_of_the_grader_itself_does_not_stop_the_class(monkeypatch, tmp_path):
    path = tmp_path / "02_gemm_and_roofline.ipynb"
    known = grade.chapters(grade.sandbox.ROOT / "exercises")["02"]
    nbformat.write(nbformat.from_dict(known.notebook), path)

    def explode(*_):
        raise RuntimeError("disk on fire")

    monkeypatch.setattr(grade, "_execute_and_score", explode)
    result = grade.grade_notebook("ada", known, [path], grade.Options("key"))
    assert result.points == 0 and result.out_of == 40
    assert "RuntimeError: disk on fire" in result.notes[0]


def test_reports_keep_students_apart_and_spreadsheets_safe(tmp_path):
    names = ["a/b", "a_b", "=cmd()", "Zoë", "x" * 300]
    results = [grade.Result(name, "02", [Verdict("02.1", 0, 10, "why")]) for name in names]
    write_reports(tmp_path, results, {"02": chapter("02")}, "none")
    assert len({page_name(name) for name in names}) == len(names)
    assert len(list(tmp_path.glob("student_*.html"))) == len(names)
    assert "'=cmd()" in (tmp_path / "scores.csv").read_text(encoding="utf-8")
