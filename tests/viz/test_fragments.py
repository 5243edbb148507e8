"""Seating charts: one element, one lane and name; the same as PTX's rules; text and component agree."""

import numpy as np
import pytest

from gemmlab import plots, widgets
from gemmlab.errors import GemmlabError
from gemmlab.plots.seats import seats

SHAPES = ["mma.m16n8k16.bf16", "mma.m16n8k8.f16", "mma.m16n8k8.tf32", "mma.m16n8k32.s8", "wmma.m16n16k16.f16",
          "wmma.m32n8k16.bf16", "wgmma.m64n32k16", "ldmatrix.x2", "ldmatrix.x4.trans"]  # fmt: skip


@pytest.mark.parametrize("instruction", SHAPES)
def test_every_element_has_one_seat(instruction):
    for seat in seats(instruction).values():
        places = set(zip(seat.lane.ravel().tolist(), seat.element.ravel().tolist(), strict=True))
        assert len(places) == seat.lane.size
        lanes = 128 if instruction.startswith("wgmma") else 32
        assert np.bincount(seat.lane.ravel(), minlength=lanes).tolist() == [seat.lane.size // lanes] * lanes


def test_ldmatrix_gives_what_mma_takes():
    a, loaded = seats("mma.m16n8k16.bf16")["A"], seats("ldmatrix.x4")
    corners = [(0, 0), (8, 0), (0, 8), (8, 8)]  # matrix i of ldmatrix.x4 becomes register i of A
    for (row, column), seat in zip(corners, loaded.values(), strict=True):
        assert (a.lane[row : row + 8, column : column + 8] == seat.lane).all()
        assert (a.element[row : row + 8, column : column + 8] == seat.element).all()
    b, turned = seats("mma.m16n8k16.bf16")["B"], seats("ldmatrix.x2.trans")
    assert (np.concatenate([seat.lane for seat in turned.values()]) == b.lane).all()


def test_the_accumulator_of_a_warpgroup():
    c = seats("wgmma.m64n32k16.bf16")["C"]
    assert (c.lane[37, 10], c.label(37, 10)) == (2 * 32 + 5 * 4 + 1, "d4")
    assert c.label(37 + 8, 11) == "d7"


@pytest.mark.parametrize("instruction", SHAPES)
def test_figure_and_component_say_the_same(instruction):
    figure, twin = plots.fragments(instruction, lane=7), widgets.fragments(instruction, lane=7)
    assert figure.alt.split("Lane 7 holds ")[1] == twin.alt.split("Lane 7 holds ")[1]
    assert figure.png() and len(twin.html().encode()) < 100_000


@pytest.mark.parametrize(
    ("instruction", "options", "message"),
    [("mma.m8n8k4", {}, "no such shape"), ("hmma", {}, "write it like"), ("mma.m16n8k16.f32", {}, "no factor type"),
     ("mma.m16n8k16", {"lane": 32}, "lanes 0 to 31"), ("ldmatrix.x4", {"operands": ["A"]}, "has no operand 'A'")],
)  # fmt: skip
def test_bad_input_is_one_line(instruction, options, message):
    for draw in (plots.fragments, widgets.fragments):
        with pytest.raises(GemmlabError, match=message):
            draw(instruction, **options)
