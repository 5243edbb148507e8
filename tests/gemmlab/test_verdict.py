"""What the compiler made of a kernel: the counts of machine instructions, the table, the command's exit code."""

import importlib
import json
from dataclasses import replace

import pytest

import gemmlab as gl
from gemmlab import compat
from gemmlab.assemble import Assembly
from gemmlab.cli import main
from gemmlab.sass import instructions

SASS = """
//--------------------- .text.other              --------------------------
        /*0000*/                   HMMA.16816.F32 R4, R8, R2, R4 ;
//--------------------- .text.mine               --------------------------
.text.mine:
        /*0000*/                   LDGSTS.E.BYPASS.128 [R1], [R2.64] ;
.L_x_1:
.L_x_2:
        /*0010*/               @P0 HMMA.16816.F32.BF16 R4, R8, R2, R4 ;
        /*0020*/                   LDSM.16.M88.4 R8, [R3] ;
        /*0030*/              @!P1 BRA `(.L_x_2) ;
        /*0040*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0050*/              @!UP1 UTMALDG.2D [UR8], [UR4] ;
        /*0060*/               @P1 BRA `(.L_x_1) ;
.L_x_3:
        /*0070*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [R1], R2 ;
        /*0080*/              @!P1 BRA `(.L_x_3) ;
        /*0090*/                   EXIT ;
.L_x_4:
        /*00a0*/                   BRA `(.L_x_4);
        /*00b0*/                   NOP;
.L_x_5:
//--------------------- .nv.shared.mine          --------------------------
"""


def test_counts_are_those_of_the_kernel_and_of_its_innermost_loop():
    found = instructions(SASS, "mine")
    assert found.total == {"LDGSTS": 1, "HMMA": 1, "LDSM": 1, "BAR": 1, "UTMALDG": 1, "SYNCS": 1, "BRA": 3, "EXIT": 1}
    assert found.loop == {"HMMA": 1, "LDSM": 1, "BRA": 1}


RETRIES = """
.L_x_1:
        /*0010*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [R1], R2 ;
        /*0020*/              @!P1 BRA `(.L_x_3) ;
.L_x_2:
        /*0030*/                   HGMMA.64x256x16.F32.BF16 R24, gdesc[UR16].tnspB, R24 ;
        /*0040*/               @P0 BRA `(.L_x_1) ;
        /*0050*/                   UTMALDG.2D [UR8], [UR4] ;
        /*0060*/                   EXIT ;
.L_x_3:
        /*0070*/                   SYNCS.PHASECHK.TRANS64.TRYWAIT P1, [R1], R2 ;
        /*0080*/              @!P1 BRA `(.L_x_3) ;
        /*0090*/                   BRA `(.L_x_2) ;
"""


def test_the_way_back_from_retries_behind_the_kernel_is_no_loop():
    assert instructions(RETRIES, "mine").loop == {"SYNCS": 1, "BRA": 2, "HGMMA": 1}


def test_without_arithmetic_there_is_no_main_loop():
    assert instructions("/*0000*/ EXIT ;", "mine").loop == {}


@pytest.mark.skipif(compat.find_tool("nvdisasm") is None, reason="needs nvdisasm")
def test_a_real_kernel():
    verdict = gl.verdict("k09_cp_async")
    counts = {name: (total, loop) for name, _, total, loop in verdict.rows()}
    assert counts["FFMA"][1] and counts["LDGSTS"][0] and counts["all"][0] > counts["all"][1] > 0
    text = str(verdict)
    assert "warnings: none" in text and "registers:" in text and "an SM holds: " in text
    assert "<code>FFMA</code>" in verdict._repr_html_()


def test_without_a_disassembler_the_rest_is_there(monkeypatch):
    monkeypatch.setattr(compat, "find_tool", lambda name: None)
    verdict = gl.verdict("k03_naive_cuda")
    assert verdict.instructions is None and "pip install nvidia-cuda-nvdisasm" in str(verdict)
    assert verdict.compiled.registers and "registers" in verdict._repr_html_()


def test_the_commands_exit_code_is_the_gate(monkeypatch, capsys):
    assert main(["verdict", "k03_naive_cuda", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["faults"] == []
    message = "ptxas info : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized"
    real = gl.compile("k03_naive_cuda")
    slow = replace(real, built=Assembly(real.cubin, "ptxas", 32, 0, 0, (message,)))
    monkeypatch.setattr(importlib.import_module("gemmlab.verdict"), "compile_kernel", lambda kernel, target: slow)
    assert main(["verdict", "k03_naive_cuda"]) == 1
    assert "C7510" in capsys.readouterr().out

