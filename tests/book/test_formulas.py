"""The page of formulas (book/formulas.md) says what the laboratory computes."""

import math

import numpy as np
import pytest

import ptxemu
from gemmlab import occupancy, roofline
from gemmlab.bank_probe import wavefronts
from gemmlab.plots.quantisation import efficiency
from gemmlab.stages import time_per_tile
from tools.common import ROOT

PAGE = (ROOT / "book" / "formulas.md").read_text()
LANE = np.arange(32)


def test_ridges_of_the_page():
    fp32, fp16 = roofline.ridge("h200", "float32"), roofline.ridge("h200", "float16")
    assert f"{fp32:.1f} FLOP per byte in FP32, {fp16:.0f} in dense FP16" in PAGE
    assert roofline.intensity(1024, 1024, 1024, "float16") == pytest.approx(2 * 1024 / (3 * 2))


def test_sectors_and_wavefronts_of_a_stride():
    for n in range(1, 130):
        assert len({int(address) for address in 4 * n * LANE // 32}) == min(32, 4 * n)
        assert wavefronts(4 * n * LANE, 4)[0] == math.gcd(n, 32)


def test_swizzles_cover_all_banks():
    chunk = LANE[:8]
    rows = {128: (chunk % 8, 8), 64: (chunk // 2 % 4, 4)}
    for pitch, (swizzle, chunks) in rows.items():
        for c in range(chunks):
            assert wavefronts(pitch * chunk + 16 * (c ^ swizzle), 16)[0] == 1


@pytest.mark.parametrize(
    ("threads", "registers", "shared"), [(256, 128, 0), (256, 123, 8320), (1024, 40, 0), (64, 32, 9)]
)
def test_blocks_per_sm(threads, registers, shared):
    by_registers = 65536 // (threads * -(-registers // 8) * 8)
    limits = [by_registers, 2048 // threads, 32]
    if shared:
        limits.append(228 * 1024 // (-(-shared // 128) * 128 + 1024))
    assert occupancy(threads, registers, shared, on=ptxemu.H200).blocks == min(limits)


def test_time_per_tile_and_share_of_the_sms():
    load, compute, busy = 300, 100, 170
    assert time_per_tile(load, compute, 1) == load + compute
    for stages in range(2, 8):
        assert time_per_tile(load, compute, stages) == max(compute, load / (stages - 1))
        assert time_per_tile(load, compute, stages, producer=True) == max(compute, (load + compute) / stages)
        assert time_per_tile(load, compute, stages, transfer=busy) >= busy
    for tiles in (1, 64, 132, 133, 500):
        assert efficiency(tiles) == pytest.approx(tiles / (132 * math.ceil(tiles / 132)))
    assert efficiency(133) == pytest.approx(0.5, abs=0.01)
