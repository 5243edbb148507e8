"""The ladder: Specs are complete, files hold what they say, kernels are right on every shape."""

import re

import pytest

import gemmlab as gl
import kernels
from kernels import LADDER

IDS = [spec.name for spec in LADDER]


@pytest.mark.parametrize("spec", LADDER, ids=IDS)
def test_spec_is_complete(spec):
    assert spec.path.is_file()
    earlier = LADDER[: IDS.index(spec.name)]
    variant = any(spec.file == other.file for other in earlier)  # compiled or launched in another way
    assert spec.name.startswith(spec.path.stem) or variant
    assert re.fullmatch(r"k\d\d_[a-z0-9_]+", spec.name) and spec.name[1:3] == spec.chapter
    assert spec.language == {".py": "numba", ".cu": "cuda"}[spec.path.suffix]
    assert spec.prev is None or spec.prev in IDS[: IDS.index(spec.name)]
    assert spec.change and spec.title
    grid, block, shared = spec.launch_dims(33, 17, 40)
    assert min(grid) >= 1 and block[0] * block[1] * block[2] <= 1024 and shared >= 0


@pytest.mark.parametrize("spec", LADDER, ids=IDS)
def test_file_has_header_and_at_most_one_kernel_region(spec):
    text = spec.path.read_text(encoding="utf-8")
    head = re.split(r"region: kernel|#include", text, maxsplit=1)[0]
    assert all(word in head for word in ("Change:", "Limit:", "Needs:"))
    assert text.count("region: kernel") <= 1 and text.count("endregion") == text.count(" region: ")
    assert len(text.splitlines()) <= 250


def test_rungs_are_consecutive():
    rungs = [spec.rung for spec in LADDER if spec.rung is not None]
    assert rungs == list(range(1, len(rungs) + 1))


def test_unknown_name_lists_the_ladder():
    with pytest.raises(KeyError) as caught:
        kernels.spec("k99_none")
    assert "k03_naive" in caught.value.args[0]


def test_runs_on():
    rule = {"block": (1, 1, 1), "grid": ("1", "1", "1")}
    exact = kernels.Spec("k15_x", "15", "", "cuda", "x.cu", "x", "", **rule, needs=(9, 0), suffix="a")
    assert exact.target == "sm_90a"
    assert [exact.runs_on(cc) for cc in ((8, 0), (9, 0), (10, 0), (12, 0))] == [False, True, False, False]
    plain = kernels.spec("k03_naive")
    assert [plain.runs_on(cc) for cc in ((7, 0), (7, 5), (12, 0))] == [False, True, True]


def same_source(spec) -> bool:
    """Say whether `spec` compiles the file of an earlier Spec in another way: as fp16, with another tile."""
    return any(spec.file == other.file for other in LADDER[: IDS.index(spec.name)])


@pytest.mark.parametrize("spec", LADDER, ids=IDS)
def test_kernel_is_right(spec, capsys):
    result = gl.check(spec, shapes=[(136, 264, 200)] if same_source(spec) else None, backend="emulator")
    count = len(result.shapes)
    first, *rest = capsys.readouterr().out.splitlines()
    shapes = "1 shape" if count == 1 else f"{count} shapes"
    assert first == f"{spec.name}: right at {shapes} on the emulator, no findings"
    assert all(line.startswith("rows padded to multiples of 16 bytes for TMA") for line in rest)


@pytest.mark.parametrize("spec", LADDER, ids=IDS)
def test_kernel_compiles_for_its_least_target_without_spills(spec):
    compiled = gl.compile(spec, target=spec.target)
    assert compiled.registers
    if spec.rung is not None:  # a study may spill or use float64 to show what it costs
        assert compiled.spill_bytes == 0 and not compiled.assembly.remarks and not compiled.lints


# Three kernels stand for all on the other targets: every instruction has tests of its own in tests/ptxemu.
@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a"])
@pytest.mark.parametrize("name", ["k03_naive", "k03_naive_cuda", "k05_tiled"])
def test_kernel_is_right_for_every_target(name, target):
    compiled = gl.compile(name, target=target)
    gl.check(compiled, shapes=[(33, 17, 40)], backend="emulator", quiet=True)
