"""Row addresses of ldmatrix on the banks, and how copies without lane addresses are named."""

import pytest

from gemmlab import plots
from gemmlab.errors import GemmlabError
from gemmlab.plots.access import element_label, family, headline
from gemmlab.plots.export import trace_data
from gemmlab.plots.matrix_rows import rows_of
from tests.viz import fakes

PLAIN, SWIZZLED = [0] * 32, [lane % 8 for lane in range(32)]


def test_rows_that_share_banks_are_marked():
    assert all(shared for _, _, shared in rows_of(fakes.matrix_load(PLAIN).addresses.tolist(), 1))
    assert not any(shared for _, _, shared in rows_of(fakes.matrix_load(SWIZZLED).addresses.tolist(), 1))
    same = fakes.matrix_load(PLAIN, pitch=0).addresses.tolist()
    assert not any(shared for _, _, shared in rows_of(same, 0))  # one address: no conflict


def test_the_figure_counts_as_the_emulator_does():
    figure = plots.matrix_rows({"plain": [fakes.matrix_load(PLAIN)], "XOR": [fakes.matrix_load(SWIZZLED)]})
    assert "plain: ldmatrix.x4, line 9: 32 wavefronts where 4 would do." in figure.alt
    assert "XOR: ldmatrix.x4, line 9: 4 wavefronts, no conflict." in figure.alt
    assert figure.png()


def test_idle_lanes_give_no_row():
    short = fakes.matrix_load([0] * 8 + [-1] * 24, "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16")
    assert "ldmatrix.x1.trans, line 9: 8 wavefronts where 1 would do." in plots.matrix_rows([short]).alt


def test_a_trace_without_matrix_loads_is_refused():
    with pytest.raises(GemmlabError, match="no ldmatrix"):
        plots.matrix_rows([fakes.shared(1)])


@pytest.mark.parametrize(
    ("opcode", "kind", "title"),
    [("cp.async.cg.shared.global", "copy", "cp.async to shared memory, line 9"),
     ("cp.async.bulk.tensor.2d.shared::cluster.global", "bulk", "TMA chunks in shared memory (modelled), line 9"),
     ("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", "wgmma", "Operand chunks of wgmma, line 9"),
     ("st.shared.v4.u32", "lane", "Read of shared memory, line 9")],
)  # fmt: skip
def test_accesses_are_named_by_what_moves_the_bytes(opcode, kind, title):
    access = fakes.matrix_load(PLAIN, opcode)
    assert (family(access), headline("", access)) == (kind, title)


def test_a_copy_that_passes_the_banks_by_has_no_conflict():
    figure = plots.bank_grid([fakes.matrix_load(PLAIN, "cp.async.cg.shared.global")])
    assert "whole sectors, no bank request" in figure.alt


def test_elements_of_16_bit_arrays_are_named_and_sized():
    access = fakes.coalesced()[0]
    access.itemsize = 2
    assert element_label(access, access.base + 2 * 33, {"A": (8, 32)}) == "A[1, 1]"
    assert trace_data([access], "global", shapes={"A": (8, 32)})["shapes"]["A"]["itemsize"] == 2
