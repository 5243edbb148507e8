"""Records: readers believe nothing that does not follow from the samples, and writing loses nothing."""

import json

import pytest

from gemmlab import results
from gemmlab.errors import GemmlabError
from gemmlab.measuring.provenance import source_sha256
from tests.gemmlab.sample_records import MACHINE, record


def test_derived_fields_follow_from_the_medians():
    r = record()
    assert r["time_us"] == 1000.0 and r["tflops"] == pytest.approx(2 * 1024**3 / 1000 / 1e6)
    assert r["rival_best"] == "cublas" and r["ratio"] == pytest.approx(55 / 1000)
    assert results.validate(r) is r


@pytest.mark.parametrize(
    "change, message",
    [
        ({"tflops": 99.0}, "tflops = 99.0 does not follow from its samples"),
        ({"ratio": 1.02}, "ratio = 1.02 does not follow"),
        ({"time_us": 1.0}, "time_us = 1.0 does not follow"),
        ({"rivals": {"cublas": 1.0, "cublaslt_best": 1.0}}, "rivals = .* does not follow"),
        ({"rivals": {}}, "rivals = {} does not follow"),
        ({"rival_best": "cublaslt_best"}, "rival_best = 'cublaslt_best' does not follow"),
        ({"chapter": "3"}, "chapter must have two digits"),
        ({"mode": "hot"}, "mode must be one of cold, warm, sustained"),
        ({"rounds": 20}, "3 samples of kernel, but 20 interleaved rounds"),
        ({"samples_us": [1.0, float("nan"), 2.0]}, "samples of kernel must be positive times"),
        ({"samples_us": []}, "samples of kernel must be positive times"),
        ({"M": "1024"}, "field 'M' must be a int"),
        ({"date": None}, "field 'date' must be a str"),
    ],
)
def test_untrue_records_are_rejected_in_one_line(change, message):
    with pytest.raises(GemmlabError, match=message) as error:
        results.validate(record(**change))
    assert "k03_naive" in str(error.value) and "\n" not in str(error.value)


def test_merge_replaces_only_the_same_case(tmp_path):
    path = tmp_path / "nvidia_h200.json"
    results.merge(path, MACHINE, [record(), record(size=2048)], {"dram_copy": {"value": 1.0}})
    results.merge(path, MACHINE, [record(samples=(800.0, 810.0, 820.0)), record("k04_coalesced")])
    data = results.load(path)
    assert [(r["kernel"], r["M"], r["time_us"]) for r in data["records"]] == [
        ("k03_naive", 1024, 810.0), ("k03_naive", 2048, 1000.0), ("k04_coalesced", 1024, 1000.0)
    ]  # fmt: skip
    assert data["ceilings"] == {"dram_copy": {"value": 1.0}}
    assert [p.name for p in tmp_path.iterdir()] == ["nvidia_h200.json"]  # no temporary file stays
    assert '"samples_us": [800.0, 810.0, 820.0]' in path.read_text()


def test_a_bad_record_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "nvidia_h200.json"
    results.merge(path, MACHINE, [record()])
    before = path.read_bytes()
    with pytest.raises(GemmlabError):
        results.merge(path, MACHINE, [record(size=2048), record(tflops=1e6)])
    with pytest.raises(GemmlabError, match="holds NVIDIA H200, not NVIDIA L4"):
        results.merge(path, {**MACHINE, "gpu": "NVIDIA L4"}, [record(size=2048)])
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["", "{", "[]", '{"machine": {}}', "\x00\xff"])
def test_corrupt_files_are_named(tmp_path, text):
    path = tmp_path / "nvidia_h200.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(GemmlabError, match="nvidia_h200.json"):
        results.load(path)


def test_missing_file_says_how_to_record(tmp_path):
    with pytest.raises(GemmlabError, match="record one with tools/record_gpu.py"):
        results.load(tmp_path / "nvidia_l4.json")
    assert results.find("k03_naive", directory=tmp_path) == [] and results.load_all(tmp_path) == {}


def test_a_record_that_was_edited_by_hand_is_rejected_on_reading(tmp_path):
    path = tmp_path / "nvidia_h200.json"
    data = results.merge(path, MACHINE, [record()])
    data["records"][0]["ratio"] = 0.97
    path.write_text(json.dumps(data))
    with pytest.raises(GemmlabError, match="ratio = 0.97 does not follow"):
        results.find("k03_naive", directory=tmp_path)


def test_source_hash_follows_includes_and_imports(tmp_path):
    (tmp_path / "ptx").mkdir()
    kernel, header, deeper = tmp_path / "k.cu", tmp_path / "ptx/a.cuh", tmp_path / "ptx/b.cuh"
    kernel.write_text('#include "ptx/a.cuh"\n#include <cuda_fp16.h>\n#include "not_ours.h"\n')
    header.write_text('#include "b.cuh"\n')
    deeper.write_text("int x;\n")
    first = source_sha256(kernel, tmp_path)
    deeper.write_bytes(b"int x;\r\n")
    assert source_sha256(kernel, tmp_path) == first
    deeper.write_text("int y;\n")
    assert source_sha256(kernel, tmp_path) != first
    numba, shared = tmp_path / "n.py", tmp_path / "loads.py"
    numba.write_text("from kernels.loads import wide\n")
    shared.write_text("wide = 1\n")
    first = source_sha256(numba, tmp_path)
    shared.write_text("wide = 2\n")
    assert source_sha256(numba, tmp_path) != first


def test_stale_names_the_reason(tmp_path):
    import kernels

    spec = kernels.LADDER[0]
    good = results.spec_sha256(spec)
    results.merge(
        tmp_path / "nvidia_h200.json",
        MACHINE,
        [record(spec.name, source_sha256=good), record(spec.name, 2048), record("k99_gone", source_sha256=good)],
    )
    found = results.stale(kernels.LADDER, tmp_path)
    assert [(e["kernel"], e["M"], e["reason"].split()[-1]) for e in found] == [
        (spec.name, 2048, "measurement"), ("k99_gone", 1024, "ladder")
    ]  # fmt: skip
    assert results.drop_stale(kernels.LADDER, tmp_path) == found
    assert results.stale(kernels.LADDER, tmp_path) == []
    kept = results.find(spec.name, directory=tmp_path)
    assert [(one["kernel"], one["M"]) for one in kept] == [(spec.name, 1024)]


def test_spread_and_slug():
    assert [results.show_time(us) for us in (2.345, 99.96, 999.9, 1234.0, 250_400.0)] == [
        "2.35 µs", "100 µs", "1.00 ms", "1.23 ms", "250 ms"
    ]  # fmt: skip
    assert results.spread([3.0, 1.0, 2.0]) == (1.0, 3.0)
    assert results.spread([float(i) for i in range(1, 102)]) == (11.0, 91.0)
    assert results.slug("NVIDIA A100-SXM4-40GB") == "nvidia_a100_sxm4_40gb"


def test_the_committed_results_are_valid():
    for stem, data in results.load_all().items():
        assert data["records"] and results.slug(data["machine"]["gpu"]) == stem


def test_a_profile_outlives_a_new_timing_of_the_same_source(tmp_path):
    path = tmp_path / "nvidia_h200.json"
    results.merge(path, MACHINE, [record(profile={"dram_read_bytes": 1.0})])
    assert results.merge(path, MACHINE, [record()])["records"][0]["profile"] == {"dram_read_bytes": 1.0}
    assert "profile" not in results.merge(path, MACHINE, [record(source_sha256="1" * 64)])["records"][0]
