"""The roofline model against figures that the fact check derived independently."""

import pytest

from gemmlab import results, roofline
from gemmlab.errors import GemmlabError
from gemmlab.roofline import Point, attainable, ideal_bytes, intensity, llm_layers, ridge, tiled_bytes, time_floor
from tests.gemmlab.sample_records import MACHINE


def test_intensity_of_the_fact_check():
    assert intensity(4096, 4096, 4096, "float32") == pytest.approx(682.67, abs=0.01)
    assert intensity(4096, 4096, 4096, "float16") == pytest.approx(1365.33, abs=0.01)
    loads = 2 * 1024**3 * 4  # the naive kernel's loads alone, entry 3
    assert intensity(1024, 1024, 1024, traffic=loads) == 0.25


def test_ideal_bytes_count_c_once_or_twice():
    assert ideal_bytes(2, 3, 5, "float32") == 4 * (10 + 15 + 6)
    assert ideal_bytes(2, 3, 5, "float32", beta=True) == 4 * (10 + 15 + 12)
    assert ideal_bytes(2, 3, 5, "fp8", "bfloat16") == 10 + 15 + 2 * 6


def test_tiled_bytes():
    assert tiled_bytes(64, 64, 64, 1, 1) == 4 * (2 * 64**3 + 64 * 64)
    # K/BK steps of (BM BK + BK BN) elements for each of the M/BM N/BN tiles, entry 7
    assert tiled_bytes(256, 128, 64, 32, 16) == 4 * (8 * 8 * 64 * (32 + 16) + 256 * 128)


def test_roof_has_a_slope_and_a_flat_part():
    assert ridge("h200", "float32") == pytest.approx(66.9e3 / 4800)
    assert attainable(1, "h200") == pytest.approx(4.8)
    assert attainable(1000, "h200") == 66.9 and attainable(1000, "h200", "float16") == 989.4
    assert attainable(ridge("h200"), "h200") == pytest.approx(66.9)
    assert attainable(1e4, "h200", "float16", sparse=True) == pytest.approx(2 * 989.4)


def test_time_floor_names_the_longer_term():
    floor = time_floor(4096, 4096, 4096, "h100", "float16")
    assert floor.bound == "compute" and floor.seconds == pytest.approx(0.139e-3, rel=0.01)
    assert time_floor(1, 4096, 4096, "h100", "float16").bound == "memory"


def test_llm_layers_prefill_and_decode():
    prefill = {layer.name: layer for layer in llm_layers("prefill", batch=2, seq=1024, d=512, heads=8, vocab=1000)}
    qkv = prefill["QKV projection"]
    assert (qkv.M, qkv.N, qkv.K) == (2048, 1536, 512)
    scores = prefill["QKᵀ"]
    assert (scores.M, scores.N, scores.K, scores.count) == (1024, 1024, 64, 16)
    decode = {layer.name: layer for layer in llm_layers("decode", batch=2, seq=1024, d=512, heads=8, vocab=1000)}
    assert (decode["PV"].M, decode["PV"].N, decode["PV"].K) == (1, 64, 1024)
    assert decode["LM head"].intensity() < 2 < prefill["LM head"].intensity()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: intensity(0, 1, 1), "M must be positive"),
        (lambda: attainable(-1, "h200"), "intensity must be positive"),
        (lambda: attainable(1, "h300"), "no GPU 'h300'"),
        (lambda: llm_layers("train"), "phase must be 'prefill' or 'decode'"),
        (lambda: llm_layers(d=100, heads=3), "d = 100 must be a multiple of heads = 3"),
        (lambda: Point("x", 1.0, 1.0, "cache", "measured"), "bytes_kind must be one of ideal, requested"),
        (lambda: roofline.recorded(["k03_naive"], 64, 64, 64, bytes="cache"), "bytes must be one of"),
    ],
)
def test_bad_input_is_one_clear_line(call, message):
    with pytest.raises(GemmlabError, match=message) as error:
        call()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kernel", ["k03_naive", "k04_coalesced"])
def test_requested_bytes_are_what_the_emulator_counts(kernel):
    import gemmlab

    counted = gemmlab.count(kernel, 32, 64, 16).bytes("global")
    assert counted == tiled_bytes(32, 64, 16, 1, 1)


def test_measured_ceilings_of_a_type(tmp_path):
    entry = {"value": 640.0, "unit": "TFLOP/s", "dtype": "bfloat16", "how": "mma.sync", "date": "2026-11-30"}
    stored = {"mma_bf16": entry, "wgmma_bf16": {**entry, "value": 800.0}, "wgmma_bf16_zeros": entry}
    results.merge(tmp_path / "nvidia_h200.json", MACHINE, ceilings=stored)
    found = roofline.ceilings("bf16", directory=tmp_path)
    assert [ceiling.tflops for ceiling in found] == [800.0, 640.0] and "NVIDIA H200, 2026-11-30" in found[0].origin
    assert roofline.ceilings("int8", directory=tmp_path) == roofline.ceilings(directory=tmp_path / "none") == []
