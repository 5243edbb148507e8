"""One GEMM by a launch rule: padded rows for TMA, workspaces, the number of SMs, clusters, macros."""

import importlib
from dataclasses import replace
from types import MappingProxyType

import ml_dtypes
import numpy as np
import pytest

import gemmlab as gl
from gemmlab.call import Call
from gemmlab.check import default_shapes
from gemmlab.launch import emulate
from gemmlab.measuring.provenance import spec_sha256
from gemmlab.rules import rule_args
from kernels import Spec
from tests.gemmlab import call_kernels as texts

TILE = {"T": 16}
TMA = {
    "grid": ["cdiv(N,T)", "cdiv(M,T)"], "block": 32, "tile": TILE,
    "args": ["map(A, T, T, 0)", "map(B, T, T, 0)", "map(C, T, T, 0)", "K"],
}  # fmt: skip
SPLIT = {
    "grid": ["min(SMS, cdiv(M*N,32))"], "block": 32, "workspace": "4*M*N + 4",
    "args": ["A", "B", "C", "W", "M", "N", "K"],
}  # fmt: skip


def test_rows_are_padded_for_tma_and_the_result_says_so(capsys):
    done = gl.check(gl.cuda_source(texts.TMA, "tma"), shapes=[(17, 33, 5), (16, 32, 48)], rule=TMA, backend="emulator")
    assert "rows padded to multiples of 16 bytes for TMA: A at 1 of 2 shapes, B at 1 of 2 shapes, C" in str(done)
    A, B = np.ones((17, 5), np.float32), np.ones((5, 33), np.float32)
    capsys.readouterr()
    C = gl.run(gl.cuda_source(texts.TMA, "tma"), A, B, rule=TMA, backend="emulator")
    assert C.shape == (17, 33) and (C == 5).all()
    line = "A padded to rows of 8 elements for TMA; B padded to rows of 36 elements for TMA; C padded to rows of 36"
    assert line in capsys.readouterr().out
    assert line in gl.count(gl.cuda_source(texts.TMA, "tma"), 17, 33, 5, TMA).title


def test_a_kernel_that_writes_into_the_padding_is_caught():
    rule = TMA | {"args": [*TMA["args"], "C", "ldc"]}
    with pytest.raises(gl.CheckError, match="past the end of C's rows"):
        gl.check(gl.cuda_source(texts.PAST, "past"), shapes=[(16, 17, 16)], rule=rule, backend="emulator", quiet=True)


def test_a_padded_array_is_no_bare_pointer():
    A, B, C = (np.zeros((16, 17), np.float32) for _ in "ABC")
    with pytest.raises(gl.GemmlabError, match="let the kernel take ldc") as caught:
        Call(TMA | {"args": [*TMA["args"], "C"]}, A, B, C, 132)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, np.int8])
def test_padding_keeps_the_values(dtype):
    A = np.arange(3 * 5).reshape(3, 5).astype(dtype)
    call = Call(TMA, A, A.reshape(5, 3), np.zeros((3, 3), dtype), 1, padding=1)
    padded = call.buffers["A"]
    assert padded.shape[1] * padded.itemsize % 16 == 0 and (padded[:, :5] == A).all() and (padded[:, 5:] == 1).all()
    call.buffers["C"][:, :3] = A[:, :3]
    call.finish()
    assert (call.C == A[:, :3]).all() and call.padded == ("A", "B", "C")


def test_map_options():
    A = np.zeros((64, 128), np.float32)
    made = rule_args({"args": ["map(A, 8, 16, 64, l2=256, dtype=tfloat32, fill=nan)"]}, A=A)[0].tiled
    assert (made.l2_promotion, made.dtype, made.nan_fill, made.swizzle) == (256, "tfloat32", True, 64)
    with pytest.raises(gl.GemmlabError, match="no option 'L2'; known are l2"):
        rule_args({"args": ["map(A, 8, 16, 64, L2=256)"]}, A=A)


def test_the_workspace_is_there_and_must_be_left_as_found():
    good = gl.cuda_source(texts.SPLIT, "split", CLEAN=1)
    assert gl.check(good, shapes=[(17, 33, 5)], rule=SPLIT, backend="emulator", quiet=True).shapes == ((17, 33, 5),)
    with pytest.raises(gl.CheckError, match="not at the second: W must be left"):
        gl.check(gl.cuda_source(texts.SPLIT, "split"), shapes=[(17, 33, 5)], rule=SPLIT, backend="emulator", quiet=True)
    with pytest.raises(gl.GemmlabError, match='"workspace" must say how many bytes'):
        gl.check(good, shapes=[(4, 4, 4)], rule=SPLIT | {"workspace": 0}, backend="emulator")


def test_persistent_kernels_meet_few_sms_too():
    right = {"grid": ["min(SMS, cdiv(M,32))"], "block": 32, "args": ["A", "B", "C", "M", "N", "K"], "tile": {"BM": 32}}
    loops = gl.cuda_source(texts.ROWS, "rows", STEP="gridDim.x*32")
    assert gl.check(loops, rule=right, backend="emulator", quiet=True).shapes[-1] == (65, 65, 17)
    with pytest.raises(gl.CheckError, match="never written|never wrote|not written"):
        gl.check(gl.cuda_source(texts.ROWS, "rows", STEP="M"), rule=right, backend="emulator", quiet=True)


def test_clusters_are_passed_on_and_refused_in_one_line():
    kernel, out = gl.cuda_source(texts.CLUSTER, "cluster"), np.zeros(8, np.int32)
    gl.launch(kernel, out, grid=8, block=32, cluster=4, backend="emulator")
    assert out.tolist() == [0, 1, 2, 3, 0, 1, 2, 3]
    for cluster, words in ((3, "grid=.* is no multiple of the cluster"), (16, "only 8 are portable: pass nonportable")):
        with pytest.raises(gl.GemmlabError, match=words) as caught:
            gl.launch(kernel, out, grid=16, block=32, cluster=cluster, backend="emulator")
        assert "\n" not in str(caught.value)
    out = np.zeros(16, np.int32)
    gl.launch(kernel, out, grid=16, block=32, cluster=16, nonportable=True, backend="emulator")
    assert out.tolist() == list(range(16))


def test_macros_of_a_spec_reach_the_compiler_and_the_hash(tmp_path, monkeypatch):
    file = tmp_path / "k99_scaled.cu"
    file.write_text(texts.SCALED)
    monkeypatch.setattr(Spec, "path", property(lambda self: file))
    plain = Spec("k99_scaled", "99", "", "cuda", file.name, "scaled", "", (32, 1, 1), ("1", "1", "1"), args=("C",))
    two, three = (replace(plain, defines=MappingProxyType({"VALUE": n})) for n in "23")
    out = np.zeros(1, np.float32)
    for spec, value in ((plain, 1), (two, 2), (three, 3)):
        gl.launch(spec, out, grid=1, block=32, backend="emulator")
        assert out[0] == value
    assert len({spec_sha256(spec) for spec in (plain, two, three)}) == 3
    assert gl.compile(two).sha256 == spec_sha256(two)


def test_asynchronous_kernels_are_checked_in_several_schedules(monkeypatch):
    seen = []
    module = importlib.import_module("gemmlab.trial")
    monkeypatch.setattr(module, "emulate", lambda *a, **k: seen.append(k["schedule"]) or emulate(*a, **k))
    gl.check(gl.cuda_source(texts.TMA, "tma"), shapes=[(17, 33, 5), (16, 16, 48)], rule=TMA, backend="emulator")
    assert seen == ["late", "late", "early", 1]
    with pytest.raises(gl.CheckError):
        gl.check(gl.cuda_source(texts.EARLY, "early"), shapes=[(16, 16, 48)], rule=TMA, backend="emulator")


def test_kernels_with_flags_are_checked_in_several_schedules(monkeypatch):
    seen = []
    module = importlib.import_module("gemmlab.trial")
    monkeypatch.setattr(module, "emulate", lambda *a, **k: seen.append(k["schedule"]) or emulate(*a, **k))
    rule = {"grid": ["2", "1", "1"], "block": [32, 1, 1], "args": ["A", "B", "C", "W", "M", "N", "K"], "workspace": "8"}
    gl.check(gl.cuda_source(texts.FLAG, "flagged"), shapes=[(1, 1, 2)], rule=rule, backend="emulator")
    assert seen == ["late", "late", "early", "early", 1, 1]  # a workspace must serve a second launch


def test_kernels_of_narrow_types_need_no_very_long_k():
    assert default_shapes({"BM": 64, "BN": 64, "BK": 64}, 8, "bfloat16")[-1] == (16, 8, 520)
    assert default_shapes({"BM": 64, "BN": 64, "BK": 64})[-1] == (16, 8, 2048)


@pytest.mark.skipif(gl.device().kind != "gpu" or gl.device().cc < (9, 0), reason="needs a GPU with clusters and TMA")
def test_clusters_and_padded_rows_on_a_gpu():
    out = np.zeros(16, np.int32)
    kernel = gl.cuda_source(texts.CLUSTER, "cluster")
    gl.launch(kernel, out, grid=16, block=32, cluster=4, backend="gpu")
    assert out.tolist() == [0, 1, 2, 3] * 4
    gl.launch(kernel, out, grid=16, block=32, cluster=16, nonportable=True, backend="gpu")
    assert out.tolist() == list(range(16))
    gl.check(gl.cuda_source(texts.TMA, "tma"), shapes=[(17, 33, 5), (16, 32, 48)], rule=TMA, backend="gpu")
    gl.check(gl.cuda_source(texts.SPLIT, "split", CLEAN=1), shapes=[(17, 33, 5)], rule=SPLIT, backend="gpu")
