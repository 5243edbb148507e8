"""The hardware table: rows agree with themselves, with the fact check, and with the names that drivers report."""

import pytest

from gemmlab.errors import GemmlabError
from gemmlab.hardware import GPUS, SOURCES, from_device, gpu, rate_name


@pytest.mark.parametrize("g", [g for g in GPUS.values() if g.clock_mhz], ids=lambda g: g.key)
def test_fp32_rate_is_lanes_times_clock(g):
    assert g.rates["float32"] == pytest.approx(g.sms * g.fp32_lanes * 2 * g.clock_mhz / 1e6, rel=0.01)


@pytest.mark.parametrize("g", GPUS.values(), ids=lambda g: g.key)
def test_every_row_has_sources_and_sane_sizes(g):
    assert g.sources and all(key in SOURCES for key in g.sources)
    assert g.shared_kb_block == g.shared_kb_sm - (1 if g.cc >= (8, 0) else 0)
    assert g.rates["float16"] > g.rates["float32"] > g.rates["float64"]
    assert "tf32" not in g.rates or g.rates["float16"] == pytest.approx(2 * g.rates["tf32"], rel=0.03)


def test_every_source_is_used():
    assert {key for g in GPUS.values() for key in g.sources} == set(SOURCES)


def test_figures_of_the_fact_check():
    assert gpu("a100-40").peak("float16") == 312 and gpu("a100-40").peak("float16", sparse=True) == 624
    assert gpu("a100-40").peak("tf32") == 156
    assert (gpu("b200").peak("fp8"), gpu("b200").peak("fp4"), gpu("b200").bandwidth_gbs) == (4500, 9000, 7700)
    assert (gpu("gb200").peak("fp8"), gpu("gb200").peak("fp4"), gpu("gb200").bandwidth_gbs) == (5000, 10000, 8000)
    assert (gpu("h100").shared_kb_sm, gpu("h100").shared_kb_block) == (228, 227)


@pytest.mark.parametrize(
    "name, key",
    [
        ("NVIDIA H200", "h200"), ("NVIDIA H100 80GB HBM3", "h100"), ("NVIDIA H100 PCIe", "h100-pcie"),
        ("Tesla T4", "t4"), ("NVIDIA B200", "b200"),
        ("NVIDIA A100-SXM4-40GB", "a100-40"), ("NVIDIA A100-SXM4-80GB", "a100-80"), ("NVIDIA L4", "l4"),
        ("NVIDIA L40S", "l40s"), ("NVIDIA GeForce RTX 4090", "rtx4090"), ("NVIDIA GB200", "gb200"),
        ("Tesla V100-SXM2-16GB", "v100"), ("NVIDIA GeForce RTX 5090", "rtx5090"), ("H200", "h200"),
    ],
)  # fmt: skip
def test_driver_names_find_their_row(name, key):
    assert gpu(name).key == key


@pytest.mark.parametrize(
    "name", ["NVIDIA GH200 480GB", "NVIDIA L40", "Radeon", "NVIDIA GeForce RTX 4090D", "NVIDIA H100 NVL"]
)
def test_other_names_are_refused_in_one_line(name):
    with pytest.raises(GemmlabError, match="no GPU .* use one of t4, "):
        gpu(name)


def test_rates_that_do_not_exist_are_refused():
    with pytest.raises(GemmlabError, match="T4 has no bfloat16 rate"):
        gpu("t4").peak("bfloat16")
    with pytest.raises(GemmlabError, match="no 2:4 sparse float32"):
        gpu("h200").peak("float32", sparse=True)
    with pytest.raises(GemmlabError, match="unknown data type 'fp12'"):
        rate_name("fp12")
    assert rate_name("float8_e4m3fn") == "fp8" and rate_name("bf16") == "bfloat16"


def test_limit_follows_the_clock_but_never_sinks():
    h200 = gpu("h200")
    assert h200.limit("bfloat16") == 989.4 and h200.limit("bfloat16", 1200) == 989.4
    assert h200.limit("bfloat16", 1980) == pytest.approx(989.4 * 1980 / 1830)
    assert h200.limit("float32", 1980) == pytest.approx(66.9)


def test_unknown_gpu_is_described_by_its_attributes():
    found = from_device({
        "name": "NVIDIA GeForce RTX 4070", "cc": [8, 9], "sms": 46, "clock_khz": 2_475_000,
        "memory_clock_khz": 10_501_000, "bus_bits": 192, "memory_bytes": 12_878_086_144,
    })  # fmt: skip
    assert found.peak("float32") == pytest.approx(29.15, rel=0.01) and found.bandwidth_gbs == pytest.approx(
        504, rel=0.01
    )
    with pytest.raises(GemmlabError):
        found.peak("float16")


def test_what_a_driver_does_not_tell_sets_no_limit():
    found = from_device({
        "name": "X", "cc": [8, 9], "sms": 46, "clock_khz": 0, "memory_clock_khz": 0, "bus_bits": 0, "memory_bytes": 1,
    })  # fmt: skip
    assert found.rates == {} and found.bandwidth_gbs == float("inf")
