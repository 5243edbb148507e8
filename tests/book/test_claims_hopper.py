"""Claims of book/what_guides_get_wrong.md about TMA and wgmma, repeated by the compiler, the emulator or arithmetic."""

import subprocess

import numpy as np
import pytest

import gemmlab as gl

COPY = """
#include "ptx/fence.cuh"
#include "ptx/tma.cuh"
extern "C" __global__ void copy({parameter} map, short* out, int offset) {{
    extern __shared__ __align__(1024) short box[];
    __shared__ mbarrier_t full;
    if (threadIdx.x == 0) {{
        mbarrier_init(&full, 1);
        fence_mbarrier_init();
        mbarrier_arrive_expect_tx(&full, 1024);
        tma_load_2d(box + offset / 2, &map, 0, 0, &full);
    }}
    __syncthreads();
    mbarrier_wait_parity(&full, 0);
    for (int i = threadIdx.x; i < 512; i += 32) out[i] = box[offset / 2 + i];
}}
"""
STATIC = 'extern "C" __global__ void k(float* x) {{ __shared__ float s[{n}]; s[threadIdx.x] = *x; *x = s[5]; }}'
BARRIER = """
#include "ptx/address.cuh"
extern "C" __global__ void k() {{
    __shared__ unsigned long long bar;
    asm volatile("{instruction}" ::"r"(shared_address(&bar)));
}}
"""
INSTRUCTIONS = {
    "init": "mbarrier.init.shared.b64 [%0], 1;",
    "expect_tx": "mbarrier.arrive.expect_tx.shared.b64 _, [%0], 64;",
    "try_wait": "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%0], 0; }",
}


def kernel(parameter="const __grid_constant__ CUtensorMap"):
    return gl.cuda_source(COPY.format(parameter=parameter), "copy")


def first_chunks(offset):
    """Return, for each of 8 rows in shared memory from `offset` on, which chunk of its row lies first."""
    array = np.arange(8 * 64, dtype=np.int16).reshape(8, 64)
    out = np.zeros(512, np.int16)
    box = gl.tensor_map(array, (8, 64), swizzle=128)
    gl.launch(kernel(), box, out, offset, grid=1, block=32, shared=2048, backend="emulator")
    return (out.reshape(8, 64)[:, 0] % 64 // 8).tolist()


def test_the_swizzle_follows_the_absolute_address():
    assert first_chunks(0) == [0, 1, 2, 3, 4, 5, 6, 7]
    assert first_chunks(128) == [1, 2, 3, 4, 5, 6, 7, 0], "aligned to 128 bytes: the pattern is shifted"


@pytest.mark.parametrize("columns", [16, 32, 64])
def test_the_inner_box_may_be_smaller_than_the_swizzle(columns):
    assert gl.tensor_map(np.zeros((64, 64), np.float16), (8, columns), swizzle=128).box_bytes == 16 * columns


def test_without_grid_constant_the_map_is_copied_to_local_memory():
    copied = gl.compile(kernel("const CUtensorMap"), target="sm_90").ptx
    assert copied.count("st.local.v2.u64") == 8  # 8 x 16 bytes: the whole map
    assert "st.local" not in gl.compile(kernel(), target="sm_90").ptx


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_mbarriers_are_older_than_hopper_and_their_bytes_are_not(name):
    code = gl.cuda_source(BARRIER.format(instruction=INSTRUCTIONS[name]), "k")
    assert gl.compile(code, target="sm_90").registers >= 0
    if name == "init":
        assert gl.compile(code, target="sm_80").registers >= 0
    else:
        with pytest.raises(gl.GemmlabError):
            gl.compile(code, target="sm_80")


def test_48_kilobytes_are_the_limit_of_static_shared_memory():
    assert gl.compile(gl.cuda_source(STATIC.format(n=12288), "k"), target="sm_120").static_shared == 49152
    with pytest.raises(gl.GemmlabError, match="uses too much shared data"):
        gl.compile(gl.cuda_source(STATIC.format(n=12289), "k"), target="sm_120")


def test_registers_forbid_a_third_block():
    assert 3 * 256 * 96 > 65536 > 2 * 256 * 96


def visited(width, columns, rows):
    """Return the tiles (x, y) that S1's grid swizzle visits."""
    linear = range(columns * rows)
    return [(i % width + i // (width * rows) * width, i // width % rows) for i in linear]


def test_the_grid_swizzle_of_width_8_leaves_tiles_out():
    assert len({tile for tile in visited(8, 16, 9) if tile[0] < 16}) == 16 * 9
    inside = {tile for tile in visited(8, 9, 9) if tile[0] < 9}
    assert (len(inside), sum(x >= 9 for x, _ in visited(8, 9, 9))) == (81 - 7, 7)


def assembled(tmp_path, operands, flags):
    """Run ptxas on one m64n64k16 wgmma for sm_90a; return its message, empty if it accepts the operands."""
    from gemmlab.compat import find_tool

    ptxas = find_tool("ptxas")
    if ptxas is None:
        pytest.skip("no ptxas here: it comes with the nvidia-cuda-nvcc wheel ('make env')")
    sums = ", ".join(f"f{i}" for i in range(32))
    source = tmp_path / "kernel.ptx"
    source.write_text(
        ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry kernel()\n{\n"
        ".reg .b64 desc; .reg .b32 a; .reg .f32 f<32>;\nmov.b64 desc, 0; mov.b32 a, 0;\nwgmma.fence.sync.aligned;\n"
        f"wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {{{sums}}}, {operands}, desc, {flags};\nret;\n}}\n"
    )
    done = subprocess.run(
        [ptxas, "-arch=sm_90a", str(source), "-o", str(tmp_path / "kernel.cubin")], capture_output=True, text=True
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_the_register_form_takes_one_transposition_flag(tmp_path):
    assert assembled(tmp_path, "desc", "1, 1, 1, 0, 1") == ""
    assert assembled(tmp_path, "{a, a, a, a}", "1, 1, 1, 1") == ""
    assert "Arguments mismatch" in assembled(tmp_path, "{a, a, a, a}", "1, 1, 1, 0, 1")
