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
