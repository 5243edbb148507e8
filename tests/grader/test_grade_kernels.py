"""Chapters with kernels through the whole grader: PTX out of the sandbox, hidden shapes, reasons in the reports."""

import csv
import json
import re

import pytest

from gemmlab.grading import grade, scoring
from gemmlab.grading.kernel_exercise import hidden_shapes
from gemmlab.grading.report_html import page_name

KEY = "another secret"
ONLY_PUBLIC = ("    m, n = cuda.grid(2)\n", "    m, n = cuda.grid(2)\n    if C.shape[0] == 1:\n        return\n")
SHARED_NAMES = "TPB = 32\nkernel = gemm\nsA = 'a name that the other chapter uses too'\n"


@pytest.fixture(scope="module")
def results(tmp_path_factory, models):
    """Grade one class in chapters 03 and 04; return (rows by student, output folder)."""
    folder = tmp_path_factory.mktemp("class")
    model = {exercise: source for exercise, (source, _) in models.items()}
    spoiled = {
        "03.1": model["03.1"].replace(*ONLY_PUBLIC),
        "03.2": "requested_intensity = 0.25",
        "03.3": model["03.3"].replace("A[m * K + k]", "A[m * N + k]"),
        "03.4": model["03.4"].replace("float32(0.0)", "0.0"),
        "04.1": model["04.1"].replace("n, m = cuda.grid(2)", "m, n = cuda.grid(2)"),
        "04.2": "def sectors(stride, width):\n    return 32",
        "04.3": model["04.3"].replace("(8, 32)", "(32, 8)"),
    }
    hand_in(folder, "model", {**model, "03.1": SHARED_NAMES.join([model["03.1"] + "\n", ""])})
    hand_in(folder, "spoiled", spoiled)
    out = tmp_path_factory.mktemp("out")
    assert grade.main([str(folder), "--out", str(out), "--chapter", "03", "--chapter", "04", "--key", KEY,
                       "--jobs", "2"]) == 0
    with open(out / "scores.csv", encoding="utf-8", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}, out


def hand_in(folder, student, answers):
    """Write both notebooks of a student, with `answers` in place of the skeletons."""
    (folder / student).mkdir()
    for name in ("03_naive", "04_coalescing"):
        data = json.loads((grade.sandbox.ROOT / "exercises" / f"{name}.ipynb").read_text(encoding="utf-8"))
        for cell in data["cells"]:
            exercise = cell["metadata"].get("gemmlab", {}).get("exercise")
            if exercise in answers and "exercise" in cell["metadata"]["tags"]:
                cell["source"] = answers[exercise]
        (folder / student / f"{name}.ipynb").write_text(json.dumps(data), encoding="utf-8")


def page(results, student):
    """Return a student's page without the student's own answers."""
    text = (results[1] / page_name(student)).read_text(encoding="utf-8")
    return re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)


def test_model_solutions_get_everything(results):
    assert results[0]["model"]["points"] == results[0]["model"]["out_of"] == "70"
    assert "B ≤ 4 sectors" in page(results, "model")


def test_spoiled_answers_get_nothing_and_each_says_why(results):
    assert results[0]["spoiled"]["points"] == "0"
    text = page(results, "spoiled")
    for reason in ("hidden", "FP16 element has 2 bytes", "N as its leading|out-of-bounds", "float64", "never written",
                   "lanes, not sectors", "takes 33 sectors"):
        assert re.search(reason, text), reason


def test_hidden_shapes_fail_by_category_and_smallest_shape_only(results):
    text = page(results, "spoiled")
    shapes = dict(hidden_shapes(scoring.hidden_rng(KEY, "03.1")))
    row = "×".join(map(str, shapes["a single row"]))
    assert f"wrong at hidden ones (a single row); the smallest that fails is {row}" in text
    others = ["×".join(map(str, shape)) for category, shape in shapes.items() if category != "a single row"]
    assert not any(shape in text for shape in others)


def test_no_page_holds_a_solution(results):
    for student in results[0]:
        assert not re.search(r"acc \+= A\[|BEGIN SOLUTION|\.visible", page(results, student))
