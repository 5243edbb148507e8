"""Tensor maps: what is refused and in which words, the driver's verdicts, launches on the emulator."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import gemmlab as gl
from gemmlab.tensormap import refusal

sys.path.insert(0, str(Path(__file__).parent))
from tensormap_cases import BASE, CASES  # noqa: E402

RECORDS = sorted((Path(__file__).parent / "data").glob("tensormaps_*.json"))
KERNEL = r"""
struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };
__device__ unsigned shared(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void tile(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap c, int k, int m) {
  __shared__ alignas(128) float s[8][16];
  __shared__ unsigned long long bar;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" :: "r"(shared(&bar)) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" :: "r"(shared(&bar)) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 :: "r"(shared(s)), "l"(&a), "r"(k), "r"(m), "r"(shared(&bar)) : "memory");
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra W; }" :: "r"(shared(&bar)) : "memory");
    for (int i = 0; i < 8; ++i) for (int j = 0; j < 16; ++j) s[i][j] *= 2;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3]; cp.async.bulk.commit_group;"
                 :: "l"(&c), "r"(k), "r"(m), "r"(shared(s)) : "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
"""  # noqa: E501

REFUSED = [
    (dict(address=8), "globalAddress", "multiple of 16"),
    (dict(dims=(256, 0)), "globalDim[1]", "got 0"),
    (dict(dims=(100, 128), strides=(200,)), "globalStrides[0]", "200 mod 16 = 8", "104 elements"),
    (dict(strides=(1, 512)), "globalStrides", "1 entries in bytes for rank 2", "got 2: [1, 512]"),
    (dict(strides=(1 << 40,)), "globalStrides[0]", "2^40"),
    (dict(box=(64, 257)), "boxDim[1]", "1 to 256", "got 257"),
    (dict(box=(4, 8)), "boxDim[0]", "4 x 2 bytes = 8", "multiple of 8 elements"),
    (dict(box=(64, 8), swizzle=64), "boxDim[0]", "swizzle of 64", "at most 32 elements"),
    (dict(swizzle=256), "swizzle", "0, 32, 64 or 128"),
    (dict(element_strides=(1, 9)), "elementStrides[1]", "1 to 8", "got 9"),
    (dict(element_strides=(1,)), "elementStrides", "got 1"),
    (dict(l2_promotion=32), "l2Promotion", "got 32"),
    (dict(dtype="uint16", nan_fill=True), "oobFill", "uint16"),
    (dict(dtype="complex64"), "tensorDataType", "complex64"),
    (dict(dims=()), "tensorRank", "got 0"),
]


@pytest.mark.parametrize("changes, words", [(c, w) for c, *w in REFUSED], ids=lambda v: str(v)[:30])
def test_refusals_name_field_rule_and_value(changes, words):
    why = refusal(replace(BASE, **changes))
    assert why and "\n" not in why and why.startswith(words[0]), why
    for word in words:
        assert word in why, why


def test_a_good_map_is_not_refused():
    assert refusal(BASE) is None
    assert refusal(replace(BASE, swizzle=128)) is None


def test_there_are_enough_recorded_cases():
    assert len(CASES) >= 200
    refused = sum(refusal(tiled) is not None for tiled in CASES.values())
    assert 50 <= refused <= len(CASES) - 50


@pytest.mark.skipif(not RECORDS, reason="no verdicts recorded yet: tools/record_tensormaps.py makes them on a GPU")
def test_agrees_with_the_driver():
    wrong = []
    for path in RECORDS:
        for name, status in json.loads(path.read_text())["verdicts"].items():
            why = refusal(CASES[name])
            if (why is None) != (status == "CUDA_SUCCESS"):
                wrong.append(f"{name}: the driver says {status}, we say {why}")
    assert not wrong, "\n".join(wrong)


def test_shapes_are_in_the_order_of_the_axes():
    array = np.zeros((40, 64), ml_dtypes.bfloat16)
    made = gl.tensor_map(array, (8, 32), swizzle=64)
    assert made.tiled.dims == (64, 40) and made.tiled.strides == (128,) and made.tiled.box == (32, 8)
    assert made.tiled.dtype == "bfloat16" and made.box_bytes == 512
    assert gl.tensor_map(array.view(np.int16), (8, 8)).tiled.dtype == "uint16"
    assert gl.tensor_map(np.zeros((4, 5, 8), np.float32), (1, 2, 4)).tiled.strides == (32, 160)


@pytest.mark.parametrize(
    "array, box, keywords, words",
    [
        (np.zeros((64, 100), np.float16), (8, 8), {}, "pad the rows to 104 elements (gl.pad_for_tma)"),
        (np.zeros((64, 64), np.float32).T, (8, 8), {}, "innermost axis"),
        (np.zeros((64, 64), np.float32), (8,), {}, "boxDim: one entry per dimension"),
        (np.zeros((64, 64), np.float32), (8, 8), {"shape": (65, 64)}, "at most the array's own"),
        (np.zeros((64, 64), np.float32), (8, 8), {"fill": 1}, 'choose "zeros" or "nan"'),
        (np.zeros((64, 64), np.float32), (8, 8), {"dtype": "float16"}, "float16 has 2 bytes"),
        ([[1.0]], (8, 8), {}, "needs an array"),
    ],
)
def test_tensor_map_refuses_in_one_line(array, box, keywords, words):
    with pytest.raises(gl.GemmlabError) as refused:
        gl.tensor_map(array, box, **keywords)
    assert words in str(refused.value) and "\n" not in str(refused.value)


def test_padded_rows():
    array = np.arange(6 * 101, dtype=np.float16).reshape(6, 101)
    padded = gl.pad_for_tma(array)
    assert padded.shape == (6, 104)
    np.testing.assert_array_equal(padded[:, :101], array)
    assert gl.tensor_map(padded, (2, 8), shape=array.shape).tiled.dims == (101, 6)


def test_launch_on_the_emulator():
    A, C = np.arange(20 * 36, dtype=np.float32).reshape(20, 36), np.zeros((20, 36), np.float32)
    maps = gl.tensor_map(A, (8, 16)), gl.tensor_map(C, (8, 16))
    done = gl.launch(gl.cuda_source(KERNEL, "tile"), *maps, 32, 16, grid=1, block=32, backend="emulator")
    assert not done.report.findings, str(done.report)
    expected = np.zeros_like(C)
    expected[16:, 32:] = 2 * A[16:, 32:]
    np.testing.assert_array_equal(C, expected)


def test_a_map_where_a_number_belongs():
    made = gl.tensor_map(np.zeros((16, 16), np.float32), (8, 16))
    with pytest.raises(gl.GemmlabError, match="declare it const __grid_constant__ CUtensorMap"):
        gl.launch(gl.cuda_source(KERNEL, "tile"), made, made, made, 0, grid=1, block=32, backend="emulator")


def test_arguments_reach_the_driver(monkeypatch):
    from cuda.bindings import driver

    from gemmlab import compat
    from gemmlab.tensormap import for_gpu

    class Driver:
        def __getattr__(self, name):
            return getattr(driver, name)

        def cuTensorMapEncodeTiled(self, *arguments):
            self.seen = arguments
            return driver.CUresult.CUDA_SUCCESS if self.good else driver.CUresult.CUDA_ERROR_INVALID_VALUE, made

    fake, made = Driver(), driver.CUtensorMap()
    made.opaque = [driver.cuuint64_t(value) for value in range(16)]
    monkeypatch.setattr(compat, "driver_module", lambda: fake)
    fake.good = True
    data = for_gpu(replace(BASE, swizzle=128, l2_promotion=256), 0x1000)
    assert data == np.arange(16, dtype=np.uint64).tobytes()
    dtype, rank, address, dims, strides, box, steps, interleave, swizzle, promotion, fill = fake.seen
    assert (dtype.name, rank, address) == ("CU_TENSOR_MAP_DATA_TYPE_FLOAT16", 2, 0x1000)
    assert [[int(v) for v in values] for values in (dims, strides, box, steps)] == [[256, 128], [512], [64, 64], [1, 1]]
    assert (swizzle.name, promotion.name) == ("CU_TENSOR_MAP_SWIZZLE_128B", "CU_TENSOR_MAP_L2_PROMOTION_L2_256B")
    assert interleave.value == 0 and fill.value == 0
    fake.good = False
    with pytest.raises(gl.GemmlabError, match="CUDA_ERROR_INVALID_VALUE.*globalAddress"):
        for_gpu(BASE, 0x1008)


def test_launch_rules_make_maps():
    from gemmlab.rules import rule_args

    A = np.zeros((64, 128), np.float16)
    rule = {"args": ["map(A, BM, BK // 2, 64)", "K"], "tile": {"BM": 16, "BK": 64}}
    made, K = rule_args(rule, A=A, K=128)
    assert made.array is A and made.tiled.box == (32, 16) and made.tiled.swizzle == 64 and K == 128
    for entry, words in (("map(D, 1, 8, 0)", "'D'"), ("map(A, BX, 8, 0)", "BX"), ("map(A, 8, 64, 64)", "at most 32")):
        with pytest.raises(gl.GemmlabError, match=words):
            rule_args(rule | {"args": [entry]}, A=A)
