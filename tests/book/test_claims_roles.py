"""Claims of book/what_guides_get_wrong.md on roles and clusters, repeated by the assembler and the emulator."""

import re

import pytest

import gemmlab as gl
import kernels

BUDGET = '#include "ptx/registers.cuh"\nextern "C" __global__ void __launch_bounds__(384, 1) budget(int* out) {{ {} }}'


def registers(producer, consumer):
    """Registers of a producer and two consumer warpgroups."""
    return 128 * (producer + 2 * consumer)


def test_register_pairs():
    start = 384 * (65536 // 384 // 8 * 8)
    assert start == 64512 == registers(24, 240) == registers(40, 232)
    assert registers(40, 256) == 70656 > start


@pytest.mark.parametrize("value, message", [(16, "range"), (28, "multiple|range"), (264, "range")])
def test_setmaxnreg_takes_multiples_of_8_from_24_to_256(value, message):
    asked = f'asm volatile("setmaxnreg.dec.sync.aligned.u32 {value};");'  # ptxas is asked, not the wrapper
    source = gl.cuda_source(BUDGET.format(asked), "budget")
    with pytest.raises(gl.GemmlabError, match=f"(?i){message}"):
        gl.compile(source, target="sm_90a")


def test_192_accumulators_fit_beside_setmaxnreg_and_spill_without():
    text = kernels.spec("k16_two_consumers").path.read_text(encoding="utf-8")
    for old, new in (
        ("BM = 128, BN = 256, STAGES = 4", "BM = 384, BN = 128, STAGES = 3"),
        ("(threadIdx.x / 128 - 1) * 64", "(threadIdx.x / 128 - 1) * 192"),
        ("float acc[1][BN / 2]", "float acc[3][BN / 2]"),
        ("wgmma_wait_group<0>(acc[0]);", "for (auto& part : acc) wgmma_wait_group<0>(part);"),
        ("store_direct<BN>(acc[0],", "for (int i = 0; i < 3; ++i, row += 64) store_direct<BN>(acc[i],"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    beside = gl.compile(gl.cuda_source(text, "two_consumers"), target="sm_90a")
    without = gl.compile(gl.cuda_source(re.sub(r".*setmaxnreg.*\n", "", text), "two_consumers"), target="sm_90a")
    assert beside.spill_bytes == 0 and without.spill_bytes > 1000
    assert any("C7511" in message for message in without.messages)


def test_setmaxnreg_does_not_widen_what_one_instruction_may_hold():
    text = kernels.spec("k16_two_consumers").path.read_text(encoding="utf-8").replace("(384, 1)", "(512, 1)")
    text = text.replace("dec<24>", "dec<32>").replace("inc<240>", "inc<160>")
    with pytest.raises(gl.GemmlabError, match="C7602"):
        gl.compile(gl.cuda_source(text, "two_consumers"), target="sm_90a")


def test_without_setmaxnreg_two_consumers_fit_and_a_third_does_not_spill():
    spec = kernels.spec("k16_two_consumers")
    plain = re.sub(r".*setmaxnreg.*\n", "", spec.path.read_text(encoding="utf-8"))
    built = gl.compile(gl.cuda_source(plain, spec.entry), target="sm_90a")
    assert built.registers <= 168 and built.spill_bytes == 0
    with pytest.raises(gl.GemmlabError, match="Insufficient registers"):
        gl.compile(gl.cuda_source(plain.replace("(384, 1)", "(512, 1)"), spec.entry), target="sm_90a")


def test_multicast_requests_two_thirds_of_the_bytes():
    asked = {
        kernel: gl.count(kernel, 256, 256, 256).total(space="global", op="ld").bytes
        for kernel in ("k16_two_consumers", "k17_multicast")
    }
    assert asked == {"k16_two_consumers": 393_216, "k17_multicast": 262_144}
