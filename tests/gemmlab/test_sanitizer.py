"""What compute-sanitizer prints is read launch by launch, and recorded for the present source only."""

from dataclasses import replace

import kernels
from gemmlab import sanitizer
from tools.record_sanitizer import output, read

OUTPUT = """========= COMPUTE-SANITIZER
>>> start k11_mma 256 256 192
>>> end k11_mma 256 256 192
>>> start k11_mma 129 129 33
========= Invalid __global__ read of size 16 bytes
=========     at mma+0x1a0 in mma.cu:40
=========     by thread (3,0,0) in block (1,0,0)
========= Program hit CUDA_ERROR_LAUNCH_FAILED (error 719)
========= 'mma' failed on the GPU
>>> lost k11_mma 129 129 33
========= Target application returned an error
========= ERROR SUMMARY: 2 errors
"""


def test_messages_belong_to_their_launch():
    found, lost = read(OUTPUT)
    assert lost == "k11_mma" and found[0] == ("k11_mma", (256, 256, 192), [])
    assert found[1][1] == (129, 129, 33) and found[1][2][0] == "Invalid __global__ read of size 16 bytes"
    assert len(found[1][2]) == 3


def test_a_limit_stops_what_a_command_started_and_keeps_its_output():
    assert output(["sh", "-c", "echo late; sleep 0.1; echo end >&2"], 5) == ("late\nend\n", True)
    text, finished = output(["sh", "-c", "echo early; sleep 60 & sleep 60"], 0.5)
    assert text == "early\n" and not finished


def test_verdicts_are_of_the_present_source(tmp_path):
    path, spec, other = tmp_path / "gpu.json", kernels.spec("k11_mma"), kernels.spec("k11_swizzled")
    for shape in sanitizer.shapes(spec):
        sanitizer.merge(path, {}, [sanitizer.record(spec, shape, "memcheck", [], "2026-11-30")])
    sanitizer.merge(path, {}, [sanitizer.record(other, (8, 8, 8), "racecheck", ["a"] * 9, "2026-11-30")])
    assert sanitizer.verdicts([spec, other], path) == {
        "k11_mma": {"memcheck": "clean, 2 shapes"},
        "k11_swizzled": {"racecheck": "9 messages"},
    }
    assert sanitizer.load(path)["records"][-1]["messages"] == ["a"] * 3
    assert sanitizer.verdicts([replace(spec, defines={"X": 1})], path) == {}


def test_broken_kernels_fit_their_sources_and_are_told_apart(tmp_path):
    path = tmp_path / "gpu.json"
    for name, count in (("no_barrier", 2), ("early_release", 0)):
        kernel, spec = sanitizer.kernel_of(name)
        assert kernel.text != spec.path.read_text(encoding="utf-8")
        entry = sanitizer.record(spec, (256, 256, 192), "racecheck", ["Race"] * count, "2026-11-30", name)
        sanitizer.merge(path, {}, [entry])
    assert [count for _, count in sanitizer.seen_by_racecheck(path)] == [2, 0]
    assert not sanitizer.verdicts([sanitizer.kernel_of("no_barrier")[1]], path)


def test_shapes_are_ragged_and_aligned():
    spec = replace(kernels.spec("k11_mma"), tile={"BM": 128, "BN": 128, "BK": 32})
    assert sanitizer.shapes(spec) == [(256, 256, 192), (129, 129, 33)]
    assert sanitizer.shapes(replace(spec, align=8))[1] == (136, 136, 40)
