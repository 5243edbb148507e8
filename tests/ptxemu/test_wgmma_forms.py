"""Descriptors decoded and encoded; forms of wgmma and setmaxnreg that must be refused, in one line that says why."""

import pytest

import ptxemu
from ptxemu import decode_wgmma_descriptor, encode_wgmma_descriptor

MMA = "wgmma.mma_async.sync.aligned."
D4 = "{%f0, %f1, %f2, %f3}"
TEXT = """
.version 8.6
.target {target}
.address_size 64
.visible .entry k()
{{
.reg .f32 %f<4>; .reg .b32 %r<4>; .reg .b64 %a, %b; .reg .pred %p;
{body}
ret;
}}
"""


def test_a_tile_of_64_halves_per_row():
    """K-major FP16, 64 wide, swizzle 128 B: eight rows are 1024 bytes, SBO 64 units; LBO does not count."""
    word = encode_wgmma_descriptor(0x400, lbo=16, sbo=1024, swizzle=128)
    assert word == 0x40 | 1 << 16 | 64 << 32 | 1 << 62
    found = decode_wgmma_descriptor(word)
    assert (found.start, found.lbo, found.sbo, found.swizzle, found.ignored) == (0x400, 16, 1024, 128, ("LBO",))
    assert found.core_matrices == {(0, 0): 0x400, (0, 1): 0x410, (1, 0): 0x800, (1, 1): 0x810}
    assert found.chunk(3, 16) == 0x400 + 3 * 128 + (1 ^ 3) * 16
    assert "ignored: LBO" in str(found) and "SBO 1024 B" in str(found)


def test_a_step_along_k():
    """The next 16 halves are 32 bytes, two units, further."""
    word = encode_wgmma_descriptor(0, sbo=1024, swizzle=128)
    assert decode_wgmma_descriptor(word + 2).chunk(1, 0) == 128 + (2 ^ 1) * 16


def test_a_tile_without_swizzle():
    found = decode_wgmma_descriptor(encode_wgmma_descriptor(0, lbo=128, sbo=256))
    assert found.ignored == () and found.core_matrices == {(0, 0): 0, (0, 1): 128, (1, 0): 256, (1, 1): 384}
    across = decode_wgmma_descriptor(encode_wgmma_descriptor(0, lbo=128, sbo=256), "MN")
    assert across.core_matrices == {(0, 0): 0, (0, 1): 128, (1, 0): 256, (1, 1): 384}
    swizzled = decode_wgmma_descriptor(encode_wgmma_descriptor(0, lbo=2048, sbo=512, swizzle=64), "MN")
    assert swizzled.chunk(32, 0) == 2048 and swizzled.chunk(0, 8) == 512


@pytest.mark.parametrize("start", [0, 16, 0x1230, 0x3FFF0])
@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
def test_round_trip(start, swizzle):
    found = decode_wgmma_descriptor(encode_wgmma_descriptor(start, 48, 4096, swizzle, 5))
    assert (found.start, found.lbo, found.sbo, found.swizzle, found.base_offset) == (start, 48, 4096, swizzle, 5)


@pytest.mark.parametrize(
    "arguments, words",
    [((8,), "multiple of 16"), ((1 << 18,), "below"), ((0, 0, 0, 96), "use 0, 32"), ((0, 0, 0, 0, 8), "0 to 7")],
)
def test_what_the_fields_cannot_hold(arguments, words):
    with pytest.raises(ValueError, match=words):
        encode_wgmma_descriptor(*arguments)


def test_what_is_no_descriptor():
    with pytest.raises(ValueError, match="64-bit"):
        decode_wgmma_descriptor(-1)
    with pytest.raises(ValueError, match="'K' or 'MN'"):
        decode_wgmma_descriptor(0, "N")


@pytest.mark.parametrize(
    "body, target, words",
    [
        (f"{MMA}m64n8k16.f32.f16.f16 {D4}, %a, %b, %p, 1, 1, 0, 0;", "sm_100a", "sm_90a only"),
        ("wgmma.fence.sync.aligned;", "sm_90", "sm_90a only"),
        (f"{MMA}m64n8k32.f32.f16.f16 {D4}, %a, %b, %p, 1, 1, 0, 0;", "sm_90a", "m64n8k16"),
        (f"{MMA}m64n12k16.f32.f16.f16 {D4}, %a, %b, %p, 1, 1, 0, 0;", "sm_90a", "multiples of 8"),
        (f"{MMA}m64n40k32.s32.s8.s8 {D4}, %a, %b, %p;", "sm_90a", "N = 40"),
        (f"{MMA}m64n16k16.f32.f16.f16 {D4}, %a, %b, %p, 1, 1, 0, 0;", "sm_90a", "expected 8"),
        (f"{MMA}m64n8k16.f16.bf16.bf16 {D4}, %a, %b, %p, 1, 1, 0, 0;", "sm_90a", "no wgmma has"),
        (f"{MMA}m64n8k32.f32.e4m3.e4m3 {D4}, %a, %b, %p, 1, 1, 0, 0;", "sm_90a", "2 immediates"),
        (f"{MMA}m64n8k16.f32.f16.f16 {D4}, %a, %b, %p, 2, 1, 0, 0;", "sm_90a", "1 or -1"),
        (f"{MMA}m64n8k16.f32.f16.f16 {D4}, %a, %r0, %p, 1, 1, 0, 0;", "sm_90a", "b64 register"),
        ("setmaxnreg.dec.sync.aligned.u32 16;", "sm_90a", "24..256"),
        ("setmaxnreg.inc.sync.aligned.u32 100;", "sm_90a", "multiple of 8"),
    ],
)  # fmt: skip
def test_refusals(body, target, words):
    with pytest.raises(ptxemu.PtxError, match=words) as error:
        ptxemu.load(TEXT.format(body=body, target=target)).entry()
    assert "\n" not in str(error.value)
