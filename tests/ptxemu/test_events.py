"""The log of asynchronous events: every copy lands once, every wait is answered, phases and bytes add up."""

from collections import Counter

import hopper_gemm
import pytest

import ptxemu

TILE = 128 * 64 * 2  # bytes of one copy
STEPS, STAGES = 6, 2


@pytest.fixture(scope="module", params=["late", "early", 3])
def log(request):
    events = ptxemu.Events()
    report, c, expected = hopper_gemm.launch(128, 128, 64 * STEPS, stages=STAGES, events=events, schedule=request.param)
    assert (c == expected).all() and events.machine is None
    return events.log


def of(log, kind, what=None):
    return [event for event in log if event.kind == kind and what in (None, event.what)]


def test_every_copy_is_issued_by_the_producer_and_lands_once(log):
    issued, landed = of(log, "issue"), of(log, "land")
    assert len(issued) == len(landed) == 2 * STEPS and {event.warps for event in issued} == {(0,)}
    assert sorted(event.number for event in issued) == sorted(event.number for event in landed)
    assert all(log.index(a) < log.index(b) for a in issued for b in landed if a.number == b.number)


def test_bytes_and_phases_add_up(log):
    full = {event.barrier for event in of(log, "bytes")}
    assert len(full) == STAGES and sum(event.nbytes for event in of(log, "bytes")) == 2 * STEPS * TILE
    done = Counter(event.barrier for event in of(log, "complete"))
    assert [done[barrier] for barrier in sorted(full)] == [STEPS // STAGES] * STAGES
    assert all(event.tx == 0 for event in of(log, "complete"))


def test_every_multiplication_is_waited_for_by_its_warps(log):
    def warps(kind):
        found = Counter()
        for event in of(log, kind):
            found.update((event.number, warp) for warp in event.warps)
        return found

    assert warps("multiply") == warps("multiplied") and len(warps("multiply")) >= 4 * STEPS * 8


def test_every_wait_ends_in_a_pass(log):
    waiting = {(warp, event.barrier) for event in of(log, "wait") for warp in event.warps}
    passed = {(warp, event.barrier) for event in of(log, "pass") for warp in event.warps}
    assert waiting <= passed


def test_only_the_chosen_cta_is_logged_up_to_the_limit():
    events = ptxemu.Events(ctas=((1, 0, 0),), limit=20)
    hopper_gemm.launch(128, 256, 64, events=events)
    assert len(events.log) == 20 and {event.cta for event in events.log} == {(1, 0, 0)}
