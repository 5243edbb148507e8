"""Finding notebooks and taking the answers out of them, whatever state they are in."""

import copy
import json

import nbformat
import pytest

from gemmlab.grading import submission
from gemmlab.grading.submission import SubmissionError, assemble, chapters, find, read_cells


def pristine(chapter="03", slug="naive", exercises=("1", "2")):
    cells = [nbformat.v4.new_code_cell("import gemmlab as gl", id="setup", metadata={"tags": ["setup"]})]
    for number in exercises:
        entry = {"gemmlab": {"exercise": f"{chapter}.{number}"}}
        cells.append(nbformat.v4.new_code_cell(
            f"answer{number} = ...", id=f"answer-{chapter}-{number}", metadata={**entry, "tags": ["exercise"]}))
        cells.append(nbformat.v4.new_code_cell(
            f'gl.exercise("{chapter}.{number}").check(answer{number})', id=f"check-{chapter}-{number}",
            metadata={**entry, "tags": ["check"]}))
    return nbformat.v4.new_notebook(cells=cells)


@pytest.fixture
def known(tmp_path):
    folder = tmp_path / "exercises"
    folder.mkdir()
    nbformat.write(pristine(), folder / "03_naive.ipynb")
    nbformat.write(pristine("04", "coalescing"), folder / "04_coalescing.ipynb")
    return chapters(folder)


@pytest.fixture
def hand_in(tmp_path, known):
    """Return a function: edit a copy of the pristine notebook (a dict), hand it in, assemble it."""

    def assembled(edit):
        data = json.loads(nbformat.writes(pristine()))
        data = edit(data) or data
        path = tmp_path / "03_naive.ipynb"
        path.write_text(json.dumps(data), encoding="utf-8")
        return assemble(known["03"], read_cells(path))

    return assembled


def answers(data):
    return [cell for cell in data["cells"] if "exercise" in cell["metadata"].get("tags", [])]


def solve(data):
    for cell in answers(data):
        cell["source"] = f"# by the student\n{''.join(cell['source'])}"


def test_answers_are_found_by_cell_id(hand_in):
    done = hand_in(solve)
    assert set(done.sources) == {"03.1", "03.2"}
    assert all(source.startswith("# by the student") for source in done.sources.values())
    assert done.notes == []
    assert [cell["source"] for cell in done.notebook["cells"]][1].startswith("# by the student")


def test_ids_that_colab_moved_to_the_metadata(hand_in):
    def colab(data):
        solve(data)
        data["nbformat_minor"] = 0
        for cell in data["cells"]:
            cell["metadata"] = {"id": cell.pop("id")}

    assert all(source.startswith("# by the student") for source in hand_in(colab).sources.values())


def test_lost_ids_are_made_up_for_by_metadata_and_by_the_check_call(hand_in):
    def lost(data):
        solve(data)
        for cell in data["cells"]:
            cell["id"] = "x" + cell["id"]
        for cell in data["cells"][3:]:
            cell["metadata"] = {}

    assert all(source.startswith("# by the student") for source in hand_in(lost).sources.values())


def test_version_3_is_converted(hand_in):
    def old(data):
        solve(data)
        cells = [{"cell_type": "code", "language": "python", "input": "".join(cell["source"]), "outputs": [],
                  "collapsed": False, "metadata": {}} for cell in data["cells"]]
        return {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]}

    assert all(source.startswith("# by the student") for source in hand_in(old).sources.values())


def test_own_cells_tags_and_outputs_of_the_student_are_left_out(hand_in):
    def extra(data):
        solve(data)
        data["cells"].insert(0, {"cell_type": "code", "id": "mine", "metadata": {}, "source": "raise SystemExit",
                                 "outputs": [], "execution_count": None})
        answers(data)[0]["metadata"]["tags"].append("raises-exception")

    done = hand_in(extra)
    assert len(done.notebook["cells"]) == 5
    assert not any("raises-exception" in cell["metadata"]["tags"] for cell in done.notebook["cells"])


def test_an_edited_check_is_replaced_and_noted(hand_in):
    def edit(data):
        solve(data)
        data["cells"][2]["source"] = "print('03.1 passed')"

    done = hand_in(edit)
    assert done.notebook["cells"][2]["source"] == 'gl.exercise("03.1").check(answer1)'
    assert done.notes == ["the check of 03.1 was edited; the original was used"]


def test_a_deleted_answer_is_missing_and_the_other_one_counts(hand_in):
    done = hand_in(lambda data: data["cells"].__delitem__(slice(1, 3)))
    assert done.sources["03.1"] is None and done.sources["03.2"] is not None


def test_of_two_cells_with_one_id_the_last_is_graded(hand_in):
    def twice(data):
        again = copy.deepcopy(answers(data)[0])
        again["source"] = "answer1 = 2"
        data["cells"].append(again)

    done = hand_in(twice)
    assert done.sources["03.1"] == "answer1 = 2"
    assert done.notes == ["03.1: 2 answer cells; the last one was graded"]


def test_another_chapters_notebook_is_named(hand_in):
    with pytest.raises(SubmissionError, match="notebook of chapter 04, handed in as that of chapter 03"):
        hand_in(lambda data: json.loads(nbformat.writes(pristine("04", "coalescing"))))


@pytest.mark.parametrize("data", [
    {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []},
    {"nbformat": 4, "metadata": {}, "cells": [{"cell_type": "code", "source": 7, "metadata": []}]},
    {"nbformat": 4, "cells": [{"cell_type": "code", "id": [], "metadata": {"id": {}, "gemmlab": {"exercise": []}}}]},
])
def test_a_notebook_without_answers(hand_in, data):
    with pytest.raises(SubmissionError, match="no answer cell of chapter 03 was found; start from 03_naive.ipynb"):
        hand_in(lambda _: data)


@pytest.mark.parametrize(("text", "says"), [
    (b"{ not json", "no valid JSON"),
    (b"\xff\xfe\x00", "not UTF-8"),
    (b"", "no valid JSON"),
    (b"[" * 100_000, "no valid JSON"),
    (b"[1, 2]", "nbformat None"),
    (b'{"nbformat": 5, "cells": []}', "nbformat 5"),
    (b'{"nbformat": 4}', "no list of cells"),
    (b'{"nbformat": 4, "cells": [1]}', "no list of cells"),
    (b'{"nbformat": 3, "worksheets": 1}', "save it again|no list of cells"),
])
def test_what_is_no_notebook_is_one_line(tmp_path, text, says):
    path = tmp_path / "03_naive.ipynb"
    path.write_bytes(text)
    with pytest.raises(SubmissionError, match=says) as raised:
        read_cells(path)
    assert "\n" not in str(raised.value) and "03_naive.ipynb" in str(raised.value)


def test_links_and_giants_are_refused(tmp_path, monkeypatch):
    real, link = tmp_path / "real.ipynb", tmp_path / "link.ipynb"
    real.write_text("{}" + " " * 100)
    link.symlink_to(real)
    with pytest.raises(SubmissionError, match="link"):
        read_cells(link)
    monkeypatch.setattr(submission, "LIMIT_BYTES", 50)
    with pytest.raises(SubmissionError, match="clear its outputs"):
        read_cells(real)


def test_both_layouts_are_found(tmp_path, known):
    folder = tmp_path / "class"
    for name in ("ada/03_naive.ipynb", "ada/04_coalescing.ipynb", "bob/deep/03_naive (1).ipynb", "03_naive_carol.ipynb",
                 "ada/.ipynb_checkpoints/03_naive-checkpoint.ipynb", "dan/essay.ipynb", "stray.ipynb"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    (folder / "erin").mkdir()
    found = find(folder, known)
    assert {student: {chapter: [path.name for path in paths] for chapter, paths in own.items()}
            for student, own in found.items()} == {
        "ada": {"03": ["03_naive.ipynb"], "04": ["04_coalescing.ipynb"]},
        "bob": {"03": ["03_naive (1).ipynb"]},
        "carol": {"03": ["03_naive_carol.ipynb"]},
        "dan": {"": ["essay.ipynb"]},
        "stray": {"": ["stray.ipynb"]},
        "erin": {},
    }


def test_a_folder_without_exercises_is_refused(tmp_path):
    with pytest.raises(SubmissionError, match="make sync"):
        chapters(tmp_path)
