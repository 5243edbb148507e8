"""Each wrapper of kernels/ptx for cp.async, ldmatrix and mma is the instruction that its name says."""

import re

import pytest

import gemmlab as gl
import kernels

HEAD = """
#include "ptx/address.cuh"
#include "ptx/cp_async.cuh"
#include "ptx/ldmatrix.cuh"
#include "ptx/mma.cuh"
extern "C" __global__ void one(unsigned* out, const float* in) {
    __shared__ alignas(128) unsigned tile[1024];
    unsigned at = shared_address(tile + threadIdx.x * 4), r1, r2[2], r4[4];
    unsigned b1[1], b2[2] = {}, a2[2] = {}, a4[4] = {}, d2[2] = {};
    int di[4] = {};
    float d[4] = {};
    b1[0] = r1 = threadIdx.x;
    BODY
    out[threadIdx.x] = DRAIN;
}
"""
ALL = "r1 + r2[0] + r2[1] + r4[0] + r4[3] + d2[0] + di[0] + __float_as_uint(d[0])"
MMA = r"mma.sync.aligned.{}.row.col.{}"
CALLS = {
    "cp_async_cg_16(at, in, 8);": r"cp.async.cg.shared.global \[.*\], \[.*\], 16, ",
    "cp_async_ca_4(at, in);": r"cp.async.ca.shared.global \[.*\], \[.*\], 4, ",
    "cp_async_ca_8(at, in);": r"cp.async.ca.shared.global \[.*\], \[.*\], 8, ",
    "cp_async_ca_16(at, in);": r"cp.async.ca.shared.global \[.*\], \[.*\], 16, ",
    "cp_async_commit_group();": "cp.async.commit_group;",
    "cp_async_wait_group<3>();": "cp.async.wait_group 3;",
    "cp_async_wait_all();": "cp.async.wait_all;",
    "ldmatrix_x1(r1, at);": "ldmatrix.sync.aligned.m8n8.x1.shared.b16",
    "ldmatrix_x2(r2, at);": "ldmatrix.sync.aligned.m8n8.x2.shared.b16",
    "ldmatrix_x4(r4, at);": "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
    "ldmatrix_x1_trans(r1, at);": "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16",
    "ldmatrix_x2_trans(r2, at);": "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16",
    "ldmatrix_x4_trans(r4, at);": "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
    "stmatrix_x2(at, a2);": "stmatrix.sync.aligned.m8n8.x2.shared.b16",
    "stmatrix_x4(at, a4);": "stmatrix.sync.aligned.m8n8.x4.shared.b16",
    "stmatrix_x2_trans(at, a2);": "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16",
    "stmatrix_x4_trans(at, a4);": "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
    "mma_m16n8k8_f32_f16(d, a2, b1);": MMA.format("m16n8k8", "f32.f16.f16.f32"),
    "mma_m16n8k8_f32_bf16(d, a2, b1);": MMA.format("m16n8k8", "f32.bf16.bf16.f32"),
    "mma_m16n8k16_f32_f16(d, a4, b2);": MMA.format("m16n8k16", "f32.f16.f16.f32"),
    "mma_m16n8k16_f32_bf16(d, a4, b2);": MMA.format("m16n8k16", "f32.bf16.bf16.f32"),
    "mma_m16n8k16_f16_f16(d2, a4, b2);": MMA.format("m16n8k16", "f16.f16.f16.f16"),
    "mma_m16n8k8_f32_tf32(d, a4, b2);": MMA.format("m16n8k8", "f32.tf32.tf32.f32"),
    "mma_m16n8k32_s32_s8(di, a4, b2);": MMA.format("m16n8k32", "s32.s8.s8.s32"),
    "mma_m16n8k32_s32_u8(di, a4, b2);": MMA.format("m16n8k32", "s32.u8.u8.s32"),
    "mma_m16n8k32_f32_e4m3(d, a4, b2);": MMA.format("m16n8k32", "f32.e4m3.e4m3.f32"),
    "mma_m16n8k32_f32_e5m2(d, a4, b2);": MMA.format("m16n8k32", "f32.e5m2.e5m2.f32"),
}


@pytest.fixture(scope="module")
def ptx():
    text = HEAD.replace("BODY", "\n    ".join(CALLS)).replace("DRAIN", ALL)
    return gl.compile(gl.cuda_source(text, "one"), target="sm_90").ptx


@pytest.mark.parametrize("call", CALLS)
def test_a_wrapper_is_its_instruction(ptx, call):
    assert re.search(CALLS[call], ptx)


def test_every_wrapper_is_listed():
    families = [kernels.ROOT / "ptx" / f"{name}.cuh" for name in ("cp_async", "ldmatrix", "mma")]
    text = "".join(path.read_text() for path in families)
    names = set(re.findall(r"\b((?:ldmatrix|stmatrix|mma|cp_async)_\w+)(?=\(|,)", text)) - {"cp_async_ca_"}
    assert names <= {re.match(r"\w+", call)[0] for call in CALLS}
