"""What only a GPU can show; skipped without one."""

import numpy as np
import pytest

import gemmlab as gl
from gemmlab import gpu
from kernels import LADDER

pytestmark = pytest.mark.skipif(gl.device().kind != "gpu", reason="needs a usable GPU")
HERE = [spec for spec in LADDER if gl.device().cc and spec.runs_on(gl.device().cc)]


@pytest.mark.parametrize("spec", HERE, ids=lambda spec: spec.name)
def test_every_kernel_is_right(spec):
    result = gl.check(spec, quiet=True)
    assert result.backend == "gpu" and result.emulated


@pytest.mark.parametrize("spec", HERE, ids=lambda spec: spec.name)
def test_reported_registers_are_those_that_run(spec):
    compiled = gl.compile(spec)
    loaded = gpu.load(compiled)
    assert loaded.attribute("NUM_REGS") == compiled.registers
    assert loaded.attribute("SHARED_SIZE_BYTES") == compiled.static_shared
    assert "FFMA" in compiled.sass()


def test_numpy_and_cupy_arrays_get_their_results():
    import cupy

    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((33, 40), np.float32), rng.standard_normal((40, 17), np.float32)
    for backend in ("gpu", "emulator"):
        C = gl.run("k04_coalesced", A, B, backend=backend)
        np.testing.assert_allclose(C, A @ B, rtol=1e-4, atol=1e-4)
        C = gl.run("k04_coalesced", cupy.asarray(A), cupy.asarray(B), backend=backend)
        np.testing.assert_allclose(cupy.asnumpy(C), A @ B, rtol=1e-4, atol=1e-4)


def test_a_bound_launch_can_be_captured():
    import cupy

    x, y = cupy.ones((16, 32), np.float32), cupy.ones((32, 16), np.float32)
    C = cupy.zeros((16, 16), np.float32)
    start = gl.bind("k04_coalesced", x, y, C, grid=(1, 2), block=(32, 8))
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        start()
        graph = stream.end_capture()
    graph.launch()
    cupy.cuda.Device().synchronize()
    assert (C == 32).all()
    with pytest.raises(gl.GemmlabError, match="bind copies nothing"):
        gl.bind("k04_coalesced", np.ones((2, 2), np.float32), y, C, grid=1, block=32)


def test_shared_memory_is_opted_in_and_limited():
    text = """
extern "C" __global__ void fill(float* y)
{
    extern __shared__ float s[];
    s[threadIdx.x + 20000] = threadIdx.x;
    y[threadIdx.x] = s[threadIdx.x + 20000];
}
"""
    y = np.zeros(32, np.float32)
    gl.launch(gl.cuda_source(text, "fill"), y, grid=1, block=32, shared=96 * 1024)
    np.testing.assert_array_equal(y, np.arange(32))
    with pytest.raises(gl.GemmlabError, match="this GPU has at most"):
        gl.launch(gl.cuda_source(text, "fill"), y, grid=1, block=32, shared=1 << 20)
