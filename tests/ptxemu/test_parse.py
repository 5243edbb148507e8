"""The parser on odd but legal PTX, and its messages on what is not."""

import re

import numpy as np
import pytest

import ptxemu

HEAD = ".version 8.3\n.target sm_90\n.address_size 64\n"


def run(body, out, extra="", args=()):
    params = ", ".join(f".param .u64 p{i}" for i in range(len(args) + 1))
    text = f"""{HEAD}{extra}
.visible .entry k({params})
{{
.reg .b64 %q; .reg .b32 %t, %o; ld.param.u64 %q, [p0]; mov.u32 %t, %tid.x;
mad.wide.u32 %q, %t, 4, %q;
{body}
st.global.u32 [%q], %o;
ret;
}}"""
    report = ptxemu.launch(ptxemu.load(text).entry(), 1, len(out), [out, *args])
    assert not report.errors, str(report)
    return out.tolist()


def fresh(n=4):
    return np.zeros(n, np.int32)


def test_nested_scopes_shadow_registers_and_labels():
    body = """
      mov.u32 %o, 0;
      { .reg .b32 %x<3>; mov.u32 %x1, 5; { .reg .b32 %x1; mov.u32 %x1, 100; add.u32 %o, %o, %x1; bra L; L: }
        add.u32 %o, %o, %x1; bra L; L: }
      { .reg .pred p; setp.lt.u32 p, %t, 2; @!p bra L; add.u32 %o, %o, 1000; L: }"""
    assert run(body, fresh()) == [1105, 1105, 105, 105]


def test_branch_table():
    body = """
      tab: .branchtargets A, B, C, C;
      brx.idx %t, tab;
      A: mov.u32 %o, 10; bra.uni END;
      B: mov.u32 %o, 20; bra.uni END;
      C: mov.u32 %o, 30;
      END:"""
    assert run(body, fresh()) == [10, 20, 30, 30]


def test_initialised_variables_and_symbol_arithmetic():
    extra = """.global .align 4 .b8 bytes[8] = {1, 0, 0, 0, 0xFF, 2};
      .const .align 4 .f32 f[2] = {0f3F800000, 0f40000000};
      .global .align 8 .u64 pointer = generic(bytes);
      .visible .global .align 4 .u32 one = 1, two = 2;"""
    body = """.reg .b64 %p; .reg .b32 %x; .reg .f32 %f;
      ld.global.u32 %o, [bytes+4]; ld.global.u64 %p, [pointer]; ld.u32 %x, [%p+0]; add.u32 %o, %o, %x;
      mov.u64 %p, bytes+4; ld.global.u8 %x, [%p]; add.u32 %o, %o, %x;
      ld.const.f32 %f, [f+4]; cvt.rzi.s32.f32 %x, %f; add.u32 %o, %o, %x;
      ld.global.u32 %x, [two]; add.u32 %o, %o, %x;"""
    assert run(body, fresh(1), extra) == [0x2FF + 1 + 0xFF + 2 + 2]


def test_literals():
    body = """.reg .f32 %f; .reg .f64 %d;
      mov.f32 %f, 0f40490FDB; mov.f64 %d, 0d3FE0000000000000;
      add.u32 %o, %t, 0x10; sub.u32 %o, %o, -5; add.u32 %o, %o, 010;
      cvt.rzi.s32.f32 %t, %f; add.u32 %o, %o, %t; mov.f32 %f, 2.5; cvt.rzi.s32.f32 %t, %f; add.u32 %o, %o, %t;
      add.u32 %o, %o, WARP_SZ;"""
    assert run(body, fresh(1)) == [16 + 5 + 8 + 3 + 2 + 32]


def test_functions_are_inlined_with_their_own_registers():
    extra = """.func (.param .b32 r) twice(.param .b32 a) {
      .reg .b32 %x; .reg .pred %p;
      ld.param.u32 %x, [a]; setp.gt.u32 %p, %x, 2; @%p bra BIG;
      add.u32 %x, %x, %x; st.param.b32 [r], %x; ret;
      BIG: mov.u32 %x, 77; st.param.b32 [r], %x; ret; }"""
    call = """{ .param .b32 a0; .param .b32 r0; st.param.b32 [a0], %o;
      call.uni (r0), twice, (a0); ld.param.b32 %o, [r0]; }"""
    assert run(f"mov.u32 %o, %t; {call} {call}", fresh(), extra) == [0, 4, 77, 77]


@pytest.mark.parametrize(
    "body,words",
    [
        ("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%q], 32;", "'tcgen05.alloc"),
        ("add.weird.u32 %o, %t, 1;", "modifier .weird"),
        ("add.u32 %o, %nope, 1;", "%nope is not declared"),
        ("bra NOWHERE;", "label NOWHERE is not defined"),
        ("mov.u32 %o, %pm3;", "%pm3 is not supported"),
        ("add.u32 %o %o;;; }}", "line"),
        ("call vprintf, (%q);", "vprintf"),
    ],
)
def test_errors_name_the_line(body, words):
    with pytest.raises(ptxemu.PtxError) as error:
        run(body, fresh())
    message = str(error.value)
    assert words in message and "line" in message and "\n" not in message


@pytest.mark.parametrize(
    "body",
    ["add.u32 %o, %t;", "mov.u32;", "mul.wide;", "cvt.u32 %o, %t;", "ld.global.u32 , [%q];", "bar.sync ;", ".loc 1 x 3",
     "ld.param.u64 %q, [nowhere];", "shl.b32 %o, %t, ;", "{ .reg %x; }", "ld.shared.u32 %o, [%t", "mbarrier.init;",
     "cp.async.cg.shared.global [%t];", "wgmma.mma_async.sync.aligned;", "st.global.v3.f32 [%q], %o;"],
)  # fmt: skip
def test_what_is_no_ptx_is_refused_with_its_line(body):
    with pytest.raises(ptxemu.PtxError, match="^line [0-9]+") as error:
        run(body, fresh())
    assert "\n" not in str(error.value)


def test_mutilated_text_is_refused_or_runs():
    """Every token of a kernel left out in turn: what comes out is an entry that compiles, or one line."""
    text = (
        HEAD
        + """.visible .entry k(.param .u64 p)
{
.reg .b64 %q; .reg .b32 %t, %o<3>; .reg .pred %p; .shared .align 4 .b8 tile[128];
ld.param.u64 %q, [p]; mov.u32 %t, %tid.x; mul.wide.u32 %q, %t, 4;
setp.lt.u32 %p, %t, 7; @%p bra SKIP; st.shared.u32 [tile+4], %t; bar.sync 0;
SKIP: ld.shared.v2.u32 {%o0, %o1}, [tile]; st.global.u32 [%q+8], %o1; ret;
}
"""
    )
    tokens = re.findall(r"\s+|[%\w.$]+|.", text)
    for i in [i for i, token in enumerate(tokens) if token.strip()]:
        try:
            ptxemu.load("".join(tokens[:i] + tokens[i + 1 :])).entry().unit(32, True)
        except (ptxemu.PtxError, ptxemu.LaunchError) as error:
            assert "\n" not in str(error) and len(str(error)) < 300


def test_unsupported_instruction_says_what_would_do():
    with pytest.raises(ptxemu.PtxError, match="line 9: .*not supported by ptxemu; run this kernel on a GPU of sm_90"):
        run("tcgen05.fence::before_thread_sync;", fresh())


def test_text_that_is_no_ptx():
    for text, words in (("hello", "module level"), (".version 8.3\n", "no .target"), (HEAD + "é", "cannot read")):
        with pytest.raises(ptxemu.PtxError, match=words):
            ptxemu.load(text)


def test_inlined_header_lines_point_at_the_user():
    text = (
        HEAD
        + """.visible .entry k(.param .u64 p)
{
.reg .b64 %q;
.loc 1 7 2
ld.param.u64 %q, [p];
.loc 2 99 1, function_name name, inlined_at 1 12 3
st.global.u32 [%q], 1;
.loc 1 0 1
ret;
}
.file 1 "user.cu"
.file 2 "/usr/include/header.hpp"
"""
    )
    sites = ptxemu.load(text).entry().sites
    assert [(s.file, s.line) for s in sites] == [("user.cu", 7), ("user.cu", 12), ("user.cu", 12)]
