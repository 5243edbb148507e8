"""mbarrier and bulk-copy instructions one by one: states, counts, forms of addresses, refusals."""

import numpy as np
import pytest

import ptxemu

HEAD = ".version 8.6\n.target {target}\n.address_size 64\n.visible .entry k(.param .u64 out) {{\n"
DECLARE = """
.shared .align 16 .b8 memory[512];
.reg .b64 %state<4>, %o, %g, %d; .reg .b32 %t, %r<4>; .reg .pred %p, %q, %one;
ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; setp.eq.u32 %one, %t, 0;
@%one mbarrier.init.shared::cta.b64 [memory], 32;
fence.mbarrier_init.release.cluster; bar.sync 0;
mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;
"""
TAIL = """
mul.wide.u32 %d, %t, 4; add.u64 %o, %o, %d;
st.global.b32 [%o], %r0; st.global.b32 [%o+128], %r1; st.global.b32 [%o+256], %r2; st.global.b32 [%o+384], %r3; ret; }}
"""


def run(body, target="sm_90a", **keywords):
    """(report, uint32[4, 32]: %r0 to %r3 of a warp) after ``body``; an mbarrier of 32 arrivals stands at ``memory``."""
    out = np.zeros((4, 32), np.uint32)
    text = (HEAD + DECLARE.replace("{", "{{").replace("}", "}}") + body.replace("{", "{{").replace("}", "}}") + TAIL)
    entry = ptxemu.load(text.format(target=target)).entry()
    report = ptxemu.launch(entry, 1, 32, [out], profile=ptxemu.profile_for(target), **keywords)
    return report, out


ARRIVE = "mbarrier.arrive.shared::cta.b64 %state0, [memory]; "
TEST = "mbarrier.test_wait.shared::cta.b64 %p, [memory], %state0; selp.u32 %r0, 1, 0, %p; "


def test_state_and_pending_count():
    body = f"@%one {ARRIVE} bar.warp.sync -1; @!%one {ARRIVE} mbarrier.pending_count.b64 %r1, %state0; {TEST}"
    report, out = run(body)
    assert not report.findings, str(report)
    assert out[0].all()
    assert out[1, 0] == 32 and set(out[1, 1:]) == {31}


def test_test_wait_of_an_incomplete_phase_is_false():
    again = TEST.replace("%r0", "%r1")
    report, out = run(f"@%one {ARRIVE} @%one {TEST} bar.warp.sync -1; @!%one {ARRIVE} {again}")
    assert report.completed and not report.errors, str(report)
    assert out[0, 0] == 0 and out[1].all()


@pytest.mark.parametrize("parity, complete", [(0, 0), (1, 1)])
def test_parity_of_the_phase_before_the_first_counts_as_complete(parity, complete):
    _, out = run(f"mbarrier.test_wait.parity.shared::cta.b64 %p, [memory], {parity}; selp.u32 %r0, 1, 0, %p;")
    assert (out[0] == complete).all()


def test_complete_tx_balances_expect_tx():
    body = f"""
    @%one mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [memory], 48; {ARRIVE}
    mbarrier.test_wait.shared::cta.b64 %p, [memory], %state0; selp.u32 %r0, 1, 0, %p;
    @%one mbarrier.complete_tx.shared::cta.b64 [memory], 48; bar.warp.sync -1;
    mbarrier.try_wait.shared::cta.b64 %q, [memory], %state0, 100; selp.u32 %r1, 1, 0, %q;"""
    report, out = run(body)
    assert not report.findings, str(report)
    assert not out[0].any() and out[1].all()


def test_generic_addresses():
    body = """mov.u32 %r3, memory; cvt.u64.u32 %g, %r3; cvta.shared.u64 %g, %g;
    mbarrier.arrive.b64 %state0, [%g]; mbarrier.try_wait.b64 %p, [%g], %state0; selp.u32 %r0, 1, 0, %p;"""
    report, out = run(body)
    assert not report.findings, str(report)
    assert out[0].all()


def test_a_wait_that_nobody_answers_is_a_deadlock_with_numbers():
    wait = "W: mbarrier.try_wait.parity.shared::cta.b64 %p, [memory], 0; @!%p bra W;"
    report, _ = run(f"@%one {ARRIVE} {wait}")
    assert not report.completed
    (finding,) = report.errors
    for words in ("32 threads of 1 CTAs", "phase 0 (parity 0)", "31 of 32 arrivals are missing", "memory"):
        assert words in finding.message, finding.message


def test_a_single_try_returns_false_when_its_time_is_over():
    report, out = run("mbarrier.try_wait.parity.shared::cta.b64 %p, [memory], 0; selp.u32 %r0, 1, 0, %p;")
    assert report.completed and not report.findings, str(report)
    assert not out[0].any()


def test_use_after_inval():
    report, _ = run(f"@%one mbarrier.inval.shared::cta.b64 [memory]; bar.sync 0; {ARRIVE}")
    assert [f.rule for f in report.findings] == ["mbarrier-uninitialised"], str(report)


def test_misaligned_object():
    report, _ = run("@%one mbarrier.init.shared::cta.b64 [memory+12], 1;")
    assert "misaligned" in {f.rule for f in report.findings}, str(report)


REFUSED = [
    ("mbarrier.try_wait.parity.shared::cta.b64 %p, [memory], 0;", "sm_80", "needs sm_90"),
    ("cp.async.bulk.commit_group;", "sm_80", "needs sm_90"),
    (
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r0], [%r1], 16, [%r2];", "sm_90a",
        "between CTAs",
    ),
    (
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r0], "
        "[%g, {%r1, %r1, %r1}], [%r2], {%r3};", "sm_90a", ".im2col",
    ),
    (
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%g, {%r1}], [%r2];",
        "sm_90a", "needs 2 coordinates",
    ),
    ("cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f32 [%g], [%r0], 16;", "sm_90a", "reduction"),
]  # fmt: skip


@pytest.mark.parametrize("body, target, says", REFUSED)
def test_refused_in_one_line(body, target, says):
    with pytest.raises(ptxemu.PtxError) as refusal:
        run(body, target).entry()
    message = str(refusal.value)
    assert says in message and "\n" not in message and message.startswith("line "), message
