"""Counters by source line and by array, and the trace of one warp."""

import json

import numpy as np
import pytest

import gemmlab as gl


@pytest.fixture(scope="module")
def naive():
    return gl.count("k03_naive", 64, 64, 32)


def test_totals_follow_from_the_shape(naive):
    assert naive.flops == 2 * 64 * 64 * 32
    assert naive.bytes("global") == 4 * (2 * 64 * 64 * 32 + 64 * 64)
    assert naive.report.completed and not naive.report.findings


def test_sectors_per_request_by_array(naive):
    found = {name: site.sectors_per_request for name, site in naive.arrays.items()}
    assert found == {"A": 32.0, "B": 1.0, "C": 32.0}
    found = {name: site.sectors_per_request for name, site in gl.count("k04_coalesced", 64, 64, 32).arrays.items()}
    assert found == {"A": 1.0, "B": 4.0, "C": 4.0}


def test_lines_carry_their_code(naive):
    by_code = {line.code: line for line in naive.lines}
    assert by_code["acc += A[m, k] * B[k, n]"].arrays == ("A", "B")
    assert by_code["C[m, n] = acc"].site.requests == 64 * 64 // 32
    assert sum(line.site.bytes for line in naive.lines if line.arrays) == naive.bytes("global")


def test_both_languages_ask_for_the_same_bytes(naive):
    assert gl.count("k03_naive_cuda", 64, 64, 32).bytes("global") == naive.bytes("global")


def test_text_html_and_json(naive):
    text, page = str(naive), naive._repr_html_()
    assert text.splitlines()[0] == "k03_naive, M=64, N=64, K=32: counted on the emulator"
    assert "sectors/request" in text and "wavefronts" not in text.splitlines()[1]
    assert "<code>acc += A[m, k] * B[k, n]</code>" in page and "A: " in page
    assert json.loads(json.dumps(naive.to_dict()))["arrays"]["A"]["sectors_per_request"] == 32.0


def test_trace_of_a_warp():
    accesses = gl.trace("k04_coalesced", 64, 64, 8, cta=(1, 2, 0), warp=3)
    loads = [access for access in accesses if access.name == "B"]
    assert len(loads) == 8 and {access.warp for access in accesses} == {3}
    columns = (loads[0].addresses - loads[0].base) // 4 % 64
    np.testing.assert_array_equal(columns, np.arange(32, 64))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gl.count("k03_naive", 64, 64, 0), "K = 0"),
        (lambda: gl.count("k03_naive", 64.0, 64, 8), "M = 64.0"),
        (lambda: gl.count("none", 8, 8, 8), "no kernel 'none'"),
        (lambda: gl.trace("k03_naive", 64, 64, 8, cta=(9, 0, 0)), r"no block \(9, 0, 0\) in a grid of \(2, 8, 1\)"),
        (lambda: gl.trace("k03_naive", 64, 64, 8, warp=8), "no warp 8 in a block"),
    ],
)
def test_bad_input_is_one_line(call, message):
    with pytest.raises(gl.GemmlabError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_line_that_copies_to_shared_memory_shows_its_global_sectors():
    lines = [line for line in gl.count("k05_tiled_square", 32, 32, 32).lines if line.arrays == ("A",)]
    assert [line.cells()[5] for line in lines] == ["4.00"]


def test_a_copy_to_shared_memory_counts_once_for_its_array():
    counts = gl.count("k09_cp_async", 128, 128, 32)
    assert counts.arrays["A"].bytes == 128 * 32 * 4 and counts.arrays["B"].bytes == 32 * 128 * 4
    assert counts.arrays["A"].wavefronts == 0


def test_a_kernel_that_does_not_finish_has_no_counts():
    text = 'extern "C" __global__ void hang(float* C) { if (threadIdx.x) __syncthreads(); else while (C[0] == 0); }'
    rule = {"grid": ["1"], "block": [64], "args": ["C"]}
    with pytest.raises(gl.GemmlabError, match="hang did not finish on the emulator, so its counts mean nothing") as why:
        gl.count(gl.cuda_source(text + "\n", "hang"), 8, 8, 8, rule)
    assert "\n" not in str(why.value)
