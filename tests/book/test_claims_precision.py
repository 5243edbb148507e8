"""What book/what_guides_get_wrong.md says of number formats and of queues, repeated."""

import numpy as np
import pytest

import gemmlab as gl

CUT, ROUNDED = 0, 0x1000


def tf32(x, half):
    return ((x.view(np.uint32) + np.uint32(half)) & np.uint32(0xFFFFE000)).view(np.float32)


@pytest.mark.parametrize("half, operand, product", [(CUT, -10, -9), (ROUNDED, -11, -10)])
def test_errors_of_tf32(half, operand, product):
    a, b = np.random.default_rng(0).standard_normal((2, 1 << 20), dtype=np.float32)
    high_a, high_b = tf32(a, half).astype(float), tf32(b, half)
    one, two = np.abs(high_a / a - 1).max(), np.abs(high_a * high_b / (a.astype(float) * b) - 1).max()
    assert 0.9 * 2.0**operand < one < 2.0**operand
    assert 0.9 * 2.0**product < two < 2.0**product * (1 + 2.0**-9)


def test_three_bf16_parts_hold_a_float():
    x = rest = np.random.default_rng(1).standard_normal(1 << 20, dtype=np.float32)
    total = np.zeros(len(x))
    for _ in range(3):
        part = (rest.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        total, rest = total + part, rest - part
    assert (total == x).all() and not rest.any()


def test_a_longer_queue_takes_no_registers():
    registers = [gl.compile(f"k12_{stages}_stages_of_32").registers for stages in (3, 4, 5)]
    assert max(registers) - min(registers) <= 2


def test_sums_inside_a_tensor_core_drift():
    rng = np.random.default_rng(2)
    A, B = rng.random((16, 1024), dtype=np.float32), rng.random((1024, 16), dtype=np.float32)
    exact = A.astype(float) @ B.astype(float)
    drift = {
        name: abs(np.mean(np.asarray(gl.run(name, A, B, backend="emulator")) / exact - 1))
        for name in ("k09_wide_patch", "k13_3xtf32", "k13_3xtf32_inside")
    }
    assert drift["k13_3xtf32_inside"] > 20 * max(drift["k09_wide_patch"], drift["k13_3xtf32"])


@pytest.mark.parametrize(("kernel", "kept"), [("k13_tf32", True), ("k13_3xtf32", True), ("k13_tf32_added", False)])
def test_adding_half_a_bit_loses_the_nan_that_gpus_make(kernel, kept):
    A, B = np.ones((2, 16, 16), np.float32)
    A.view(np.uint32)[3, 4] = 0x7FFFFFFF
    C = np.asarray(gl.run(kernel, A, B, backend="emulator"))
    assert np.isnan(C[3]).all() == kept
    assert (C[:3] == 16).all()


@pytest.mark.parametrize(("target", "instruction"), [("sm_80", "cvt.rna.tf32.f32"), ("sm_90a", "cvt.rn.tf32.f32")])
def test_rounding_to_tf32_is_one_instruction_of_ptx(target, instruction):
    assert instruction in gl.compile("k13_tf32", target=target).ptx
