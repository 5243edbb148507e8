"""Compilation without a driver: both languages, every target, and one clear line for what cannot be compiled."""

import warnings

import numpy as np
import pytest
from numba import cuda, float32

import gemmlab as gl
from gemmlab import compat, hints
from gemmlab.assemble import parse_log
from gemmlab.compile import _preflight, entries, from_ptx, parse_target
from gemmlab.source import CudaSource, display_name, source_sha256
from kernels import Spec

AXPY = 'extern "C" __global__ void axpy(const float* x, float* y, int n) { if (threadIdx.x < n) y[0] += x[0]; }'


def numba_kernel(A, B, C):
    m, n = cuda.grid(2)
    if m < C.shape[0] and n < C.shape[1]:
        C[m, n] = A[m, n] + B[m, n]


@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90", "sm_90a", "sm_100a", "sm_120a"])
@pytest.mark.parametrize("name", ["k03_naive", "k03_naive_cuda"])
def test_every_target(name, target):
    compiled = gl.compile(name, target=target)
    plain = target.rstrip("a") if compiled.language == "numba" else target
    assert compiled.target == plain and f".target {plain}" in compiled.ptx
    assert compiled.entry == "naive" and list(entries(compiled.ptx)) == ["naive"]
    assert compiled.registers > 8 and compiled.spill_bytes == 0 and compiled.static_shared == 0
    assert compiled.cubin.startswith(b"\x7fELF")


def test_lines_belong_to_the_source_file():
    compiled = gl.compile("k03_naive")
    assert list(compiled.sources) == ["kernels/simt/k03_naive.py"]
    text = compiled.sources["kernels/simt/k03_naive.py"].splitlines()
    line = next(i for i, code in enumerate(text, 1) if "acc += " in code)
    assert f".loc\t1 {line} " in compiled.ptx
    assert "acc +=" in compiled.source_line("kernels/simt/k03_naive.py", line)
    assert compiled.source_line("elsewhere", 1) == ""


def test_numba_parameters_are_the_flattened_arrays():
    compiled = gl.compile(numba_kernel)
    assert len(compiled.params) == 3 * 9 and {param.size for param in compiled.params} == {8}
    vector = gl.compile(scale_vector, signature=(np.zeros(3, np.float32), np.float32(2), 7))
    assert [param.dtype for param in vector.params] == ["u64"] * 7 + ["f32", "u64"]


def scale_vector(x, factor, n):
    i = cuda.grid(1)
    if i < n:
        x[i] *= factor


def test_signature_follows_dtype_dimensions_and_order():
    fortran = np.zeros((3, 4), np.float64, order="F")
    compiled = gl.compile(numba_kernel, signature=(fortran, fortran, fortran))
    assert "f64" in compiled.ptx
    with pytest.raises(gl.GemmlabError, match="takes 3 arguments .A, B, C., got 1"):
        gl.compile(numba_kernel, signature=(fortran,))
    with pytest.raises(gl.GemmlabError, match="x, factor, not A, B, C: pass signature="):
        gl.compile(two_arguments)


def two_arguments(x, factor):
    x[0] = factor


def test_device_functions_compile_without_a_driver_and_keep_their_lines():
    @cuda.jit(device=True)
    def fused(a, b, c):
        return a * b + c

    @cuda.jit
    def kernel(A, B, C):
        C[0, 0] = fused(A[0, 0], B[0, 0], C[0, 0])

    compiled = gl.compile(kernel)
    assert "fma.rn.f32" in compiled.ptx
    line = fused.py_func.__code__.co_firstlineno + 2
    assert f" {line} " in "".join(text for text in compiled.ptx.splitlines(True) if ".loc" in text)
    with pytest.raises(gl.GemmlabError, match="'fused' is a device function"):
        gl.compile(fused)


def test_options_of_the_decorator_are_kept():
    @cuda.jit(fastmath=True, max_registers=24)
    def kernel(A, B, C):
        C[0, 0] = A[0, 0] / B[0, 0]

    compiled = gl.compile(kernel)
    assert "div.approx" in compiled.ptx and compiled.registers <= 24


def test_float64_in_a_float32_kernel_is_pointed_out():
    @cuda.jit
    def slow(A, B, C):
        acc = 0.0
        for k in range(A.shape[1]):
            acc += A[0, k] * B[k, 0]
        C[0, 0] = acc

    lints = gl.compile(slow).lints
    assert lints and all(found.rule == "float64-arithmetic" for found in lints)
    assert any(found.line == slow.py_func.__code__.co_firstlineno + 4 for found in lints)
    assert not gl.compile("k03_naive").lints


def make(tile):
    def kernel(A, B, C):
        C[0, 0] = tile

    return kernel


SIZE = 16


def reads_global(A, B, C):
    C[0, 0] = SIZE


def test_a_captured_number_that_changed_is_reported(monkeypatch):
    ptx = gl.compile(reads_global).ptx
    monkeypatch.setitem(globals(), "SIZE", 32)
    with pytest.warns(UserWarning, match="SIZE was 16 when 'reads_global' was compiled and is 32 now"):
        again = gl.compile(reads_global)
    assert again.ptx == ptx
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monkeypatch.setitem(globals(), "SIZE", 16)
        gl.compile(reads_global)
        assert gl.compile(make(8)).ptx != gl.compile(make(9)).ptx


def define_helper(factor):
    @cuda.jit(device=True)
    def helper(x):
        return x * factor

    return helper


helper = define_helper(2)


def calls_helper(A, B, C):
    C[0, 0] = helper(A[0, 0])


def test_a_device_function_that_was_defined_again_is_reported(monkeypatch):
    gl.compile(calls_helper)
    monkeypatch.setitem(globals(), "helper", define_helper(3))
    with pytest.warns(UserWarning, match="helper was defined again after 'calls_helper' was compiled"):
        gl.compile(calls_helper)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("s = cuda.shared.array(A.shape[0], float32); C[0, 0] = s[0]", "the shape of a shared array must be a const"),
        ("C[0, 0] = undefined_name", "name 'undefined_name' is not defined"),
        ("C[0, 0] = A.colour", "Unknown attribute 'colour'"),
        ("C[0, 0] = 'a' + 1", "Numba knows no add"),
    ],
)
def test_numba_errors_are_one_line(body, message):
    scope = {"cuda": cuda, "float32": float32}
    exec(f"def broken(A, B, C):\n    {body}\n", scope)
    with pytest.raises(gl.GemmlabError) as caught:
        gl.compile(scope["broken"])
    assert str(caught.value).startswith("Numba cannot compile 'broken'") and message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_cuda_source_and_macros(tmp_path):
    path = tmp_path / "axpy.cu"
    path.write_text(AXPY.replace("+=", "+= SCALE *"))
    compiled = gl.compile(gl.cuda_source(path, "axpy", SCALE=3))
    assert [param.dtype for param in compiled.params] == ["u64", "u64", "u32"]
    assert list(compiled.sources) == ["axpy.cu"]
    with pytest.raises(gl.GemmlabError, match="no CUDA source file"):
        gl.cuda_source(tmp_path / "none.cu", "axpy")


def test_fp16_headers_are_found():
    text = '#include <cuda_fp16.h>\nextern "C" __global__ void h(__half* x) { x[0] = __hadd(x[0], x[1]); }'
    assert "add" in gl.compile(gl.cuda_source(text, "h")).ptx


@pytest.mark.parametrize(
    ("text", "entry", "message"),
    [
        (AXPY.replace('extern "C"', ""), "axpy", 'was compiled as .*: write extern "C"'),
        (AXPY, "other", "no kernel 'other'; it has axpy"),
        ("template <int N> __global__ void t(float* x) { x[0] = N; }", "t", "nor any other"),
        ('extern "C" __global__ void bad(float* x) { x[0] = y; }', "bad", "the CUDA C\\+\\+ compiler refuses 'bad'"),
        ('#include "none.cuh"\nextern "C" __global__ void h() {}', "h", "the header none.cuh is not found"),
    ],
)
def test_cuda_errors_start_with_one_clear_line(text, entry, message):
    with pytest.raises(gl.GemmlabError, match=message) as caught:
        gl.compile(CudaSource(text, entry))
    assert len(str(caught.value).splitlines()) <= 8


@pytest.mark.parametrize(
    ("instruction", "target", "message"),
    [
        ("wgmma.fence.sync.aligned;", "sm_90", "wgmma exists on sm_90a only: compile for sm_90a"),
        ("wgmma.fence.sync.aligned;", "sm_120a", "wgmma exists on sm_90a only: sm_120a cannot run it"),
        ("cp.async.wait_all;", "sm_75", "this needs sm_80 or higher, the target is sm_75"),
        ("setmaxnreg.inc.sync.aligned.u32 232;", "sm_90", "compile for sm_90a"),
    ],
)
def test_wrong_architecture_says_what_would_help(instruction, target, message):
    text = f'extern "C" __global__ void k() {{ asm volatile("{instruction}"); }}'
    with pytest.raises(gl.GemmlabError) as caught:
        gl.compile(CudaSource(text, "k"), target=target)
    assert message in str(caught.value).splitlines()[0]


def test_wgmma_and_tcgen05_compile_through_the_learners_call():
    wgmma = 'extern "C" __global__ void k() { asm volatile("wgmma.fence.sync.aligned;"); }'
    assert gl.compile(CudaSource(wgmma, "k"), target="sm_90a").cubin
    tcgen05 = wgmma.replace("wgmma.fence.sync.aligned;", "tcgen05.wait::ld.sync.aligned;")
    assert gl.compile(CudaSource(tcgen05, "k"), target="sm_100a").cubin


def test_a_spec_is_refused_before_it_is_compiled():
    spec = Spec("k15_x", "15", "", "cuda", "none.cu", "x", "", (1, 1, 1), ("1", "1", "1"), needs=(9, 0), suffix="a")
    with pytest.raises(gl.GemmlabError, match="k15_x needs exactly sm_90a, and sm_120a is not"):
        _preflight(spec, "sm_120a", (12, 0), "a")


@pytest.mark.parametrize("target", ["sm90", "90a", "compute_90", "", 90])
def test_target_names(target):
    with pytest.raises(gl.GemmlabError, match="not of the form"):
        parse_target(target)


def test_an_unknown_target_is_one_line():
    with pytest.raises(gl.GemmlabError, match="does not know the target sm_10: update"):
        gl.compile(CudaSource(AXPY, "axpy"), target="sm_10")


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ("k99", "no kernel 'k99'; the ladder has k03_naive"),
        (AXPY, "wrap it as gl.cuda_source"),
        (3, "'int' is no kernel"),
    ],
)
def test_what_is_no_kernel(kernel, message):
    with pytest.raises(gl.GemmlabError, match=message):
        gl.compile(kernel)


def test_from_ptx():
    ptx = gl.compile("k03_naive_cuda", target="sm_90").ptx
    again = from_ptx(ptx, "cuda")
    assert (again.entry, again.target) == ("naive", "sm_90") and again.registers
    with pytest.raises(gl.GemmlabError, match="no kernel 'other'"):
        from_ptx(ptx, "cuda", "other")
    with pytest.raises(gl.GemmlabError, match="has no kernel"):
        from_ptx("// nothing", "cuda")


def test_ptxas_remarks_are_kept():
    log = """ptxas info    : Compiling entry function 'k' for 'sm_90a'
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized
    8 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads
ptxas info    : Used 168 registers, used 1 barriers, 49152 bytes smem
ptxas info    : Compile time = 9.424 ms
"""
    found = parse_log(log, "k")
    assert (found["registers"], found["spill_bytes"], found["static_shared"]) == (168, 40, 49152)
    assert any("C7510" in line for line in found["messages"]) and not any("time" in line for line in found["messages"])


def test_sass_or_how_to_get_it():
    compiled = gl.compile("k03_naive_cuda")
    if compat.find_tool("nvdisasm") or compat.find_tool("cuobjdump"):
        assert "FFMA" in compiled.sass()
    else:
        with pytest.raises(gl.GemmlabError, match="pip install nvidia-cuda-nvdisasm"):
            compiled.sass()


def test_without_compilers_or_assemblers(monkeypatch):
    """What can still be done is done; the rest names the package to install."""
    monkeypatch.setattr(compat, "find_tool", lambda name: None)
    monkeypatch.setattr(compat, "nvjitlink_module", lambda: None)
    compiled = gl.compile(make(3))
    assert compiled.ptx and compiled.registers is None
    with pytest.raises(gl.GemmlabError, match="pip install nvidia-cuda-nvdisasm"):
        compiled.sass()
    monkeypatch.setattr(compat, "nvrtc_module", lambda: None)
    with pytest.raises(gl.GemmlabError, match="NVRTC is missing: pip install"):
        gl.compile(gl.cuda_source(AXPY.replace("+=", "-="), "axpy"))


def test_names_of_files():
    assert display_name("/tmp/ipykernel_31/123.py") == "cell"
    assert display_name("/elsewhere/k.py") == "k.py"


def test_source_hash_covers_macros():
    assert source_sha256(gl.cuda_source(AXPY, "axpy", BM=1)) != source_sha256(gl.cuda_source(AXPY, "axpy", BM=2))


def test_numba_message_has_a_line_number():
    text = hints.numba_message(ValueError('something\nFile "x.py", line 9:'), make)
    assert text == "Numba cannot compile 'make' (line 9): something"
