"""What the compiler says to claims of book/what_guides_get_wrong.md: each snippet goes through ptxas."""

import subprocess

import pytest

from gemmlab.compat import find_tool

WGMMA = """
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n{n}k{k}.{d}.{t}.{t} {{{regs}}}, desc, desc, 1{scale};
"""


@pytest.fixture(scope="module")
def ptxas():
    path = find_tool("ptxas")
    if path is None:
        pytest.skip("no ptxas here: it comes with the nvidia-cuda-nvcc wheel ('make env')")
    return path


def verdict(ptxas, tmp_path, target, body, declarations="", version="8.7"):
    """Assemble a kernel of this body; return ptxas's message, empty if it accepts it."""
    text = f""".version {version}
.target {target}
.address_size 64
.visible .entry kernel(.param .u64 p)
{{
.reg .b64 a, g, desc; .reg .b32 s; .reg .pred ok; .reg .f32 f<128>; .reg .s32 i<128>;
{declarations}
ld.param.u64 g, [p];
mov.b64 desc, 0;
{body}
ret;
}}
"""
    source = tmp_path / "kernel.ptx"
    source.write_text(text)
    done = subprocess.run(
        [ptxas, f"-arch={target}", source, "-o", tmp_path / "kernel.cubin"], capture_output=True, text=True
    )
    return (done.stdout + done.stderr) if done.returncode else ""


def wgmma(n, k, d, t, name, scale):
    return WGMMA.format(n=n, k=k, d=d, t=t, regs=", ".join(f"{name}{r}" for r in range(64 * n // 128)), scale=scale)


F16, S8 = ("f32", "f16", "f", ", 1, 1, 0, 0"), ("s32", "s8", "i", "")


def test_wgmma_is_gone_on_blackwell(ptxas, tmp_path):
    body = wgmma(64, 16, *F16)
    assert verdict(ptxas, tmp_path, "sm_90a", body) == ""
    for target in ("sm_100a", "sm_120a"):
        assert "wgmma" in verdict(ptxas, tmp_path, target, body)


def test_int8_wgmma_takes_fewer_shapes(ptxas, tmp_path):
    assert verdict(ptxas, tmp_path, "sm_90a", wgmma(40, 16, *F16)) == ""
    assert verdict(ptxas, tmp_path, "sm_90a", wgmma(48, 32, *S8)) == ""
    assert "shape" in verdict(ptxas, tmp_path, "sm_90a", wgmma(40, 32, *S8))


def test_accumulator_registers(ptxas, tmp_path):
    assert verdict(ptxas, tmp_path, "sm_90a", wgmma(256, 16, *F16)) == ""  # 128 registers are listed
    too_few = wgmma(256, 16, *F16).replace(", f127", "")
    assert verdict(ptxas, tmp_path, "sm_90a", too_few) != ""


def test_cp_async_and_mbarrier_are_ampere(ptxas, tmp_path):
    buffer = ".shared .align 16 .b8 tile[64];"
    copy = "mov.u32 s, tile; cp.async.cg.shared.global [s], [g], 16;"
    barrier = "mov.u32 s, tile; mbarrier.init.shared.b64 [s], 1;"
    for body in (copy, barrier):
        assert verdict(ptxas, tmp_path, "sm_80", body, buffer) == ""
        assert "sm_80 or higher" in verdict(ptxas, tmp_path, "sm_75", body, buffer)


def test_only_static_shared_memory_stops_at_48_kb(ptxas, tmp_path):
    body = "mov.u32 s, tile; st.shared.u32 [s], s;"
    assert verdict(ptxas, tmp_path, "sm_120a", body, f".shared .b8 tile[{48 << 10}];") == ""
    assert "too much shared data" in verdict(ptxas, tmp_path, "sm_120a", body, f".shared .b8 tile[{(48 << 10) + 4}];")
