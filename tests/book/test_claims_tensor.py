"""The claims about WMMA, mma.sync and ldmatrix on the page "What the guides get wrong", checked again."""

import numpy as np
import pytest

import gemmlab as gl
from gemmlab.plots.seats import seats

WMMA = """
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;
extern "C" __global__ void one(const __half* A, const __half* B, float* C) {
    wmma::fragment<wmma::matrix_a, SHAPE, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, SHAPE, __half TAG> b;
    wmma::fragment<wmma::accumulator, SHAPE, float> c;
    wmma::fill_fragment(c, 0.0f);
    wmma::load_matrix_sync(a, A, 16);
    wmma::load_matrix_sync(b, B, LDB);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(C, c, LDB, wmma::mem_row_major);
}
"""


def wmma(tag=", wmma::row_major", shape=(16, 16, 16)):
    m, n, _ = shape
    text = WMMA.replace("SHAPE", ", ".join(map(str, shape))).replace("TAG", tag).replace("LDB", str(n))
    return gl.cuda_source(text, "one")


def product(kernel, m=16, n=16):
    """Return (A, B, C) of one warp's product, A (m, 16) and B (16, n) row-major."""
    rng = np.random.default_rng(0)
    A, B = (rng.standard_normal(shape).astype(np.float16) for shape in ((m, 16), (16, n)))
    C = np.zeros((m, n), np.float32)
    gl.launch(kernel, A, B, C, grid=1, block=32, backend="emulator")
    return A.astype(float), B.astype(float), C


def test_col_major_transposes_each_tile_of_b():
    A, B, C = product(wmma(", wmma::col_major"))
    assert np.allclose(C, A @ B.T, atol=1e-4)
    A, B, C = product(wmma())
    assert np.allclose(C, A @ B, atol=1e-4)


def test_factors_need_a_layout_tag():
    with pytest.raises(gl.GemmlabError, match="incomplete type"):
        gl.compile(wmma(""), target="sm_80")


@pytest.mark.parametrize("shape", [(32, 8, 16), (8, 32, 16)])
def test_fragments_have_other_shapes_too(shape):
    m, n, _ = shape
    A, B, C = product(wmma(shape=shape), m, n)
    assert np.allclose(C, A @ B, atol=1e-4)


@pytest.mark.parametrize(("target", "each"), [("sm_75", 4), ("sm_90", 2)])
def test_mma_sync_is_several_instructions(target, each):
    built = gl.compile("k10_wmma_shared_f16", target=target)
    sass = built.sass()
    if not sass:
        pytest.skip("nvdisasm is missing")
    assert sass.count("HMMA") == each * built.ptx.count("wmma.mma.sync")


def test_padding_reaches_the_banks_of_wmma():
    def excess(kernel):
        sites = gl.count(kernel, 128, 128, 64).sites
        return sum(site.excess_wavefronts for site in sites if site.opcode.startswith("wmma.load"))

    assert excess("k10_wmma_unpadded_f16") > 0
    assert excess("k10_wmma_shared_f16") == 0


def test_ldmatrix_conflicts_unless_its_rows_are_spread():
    def ways(kernel):
        sites = [s for s in gl.count(kernel, 128, 128, 64).sites if s.opcode.startswith("ldmatrix") and s.requests]
        return {site.conflict_ways for site in sites}

    assert ways("k11_mma") == {8}
    assert ways("k11_swizzled") == ways("k11_double_buffer") == {1}


def test_lane_4_holds_row_1_and_registers_hold_pairs():
    plan = seats("mma.m16n8k16.f16")
    assert plan["A"].lane[1, 0] == 4
    assert [len(plan[name].held(0)) for name in "ABC"] == [8, 4, 4]


def test_mma_refuses_one_register_per_element():
    operands = "{%0, %0, %0, %0}, {%1, %1, %1, %1, %1, %1, %1, %1}, {%1, %1, %1, %1}, {%0, %0, %0, %0}"
    text = f"""extern "C" __global__ void one(float* C, unsigned a) {{
        float d = 0.0f;
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {operands};" : "+f"(d) : "r"(a));
        C[threadIdx.x] = d;
    }}"""
    with pytest.raises(gl.GemmlabError):
        gl.compile(gl.cuda_source(text, "one"), target="sm_80")
