"""Pictures of the emulator's events: barriers, stages and roles of a ring, from hand-made events and a real kernel."""

import json
import shutil
import subprocess

import pytest

import gemmlab as gl
from gemmlab import plots, widgets
from gemmlab.errors import GemmlabError
from gemmlab.plots.event_text import barrier_names, sentence, warps_text
from gemmlab.widgets.twin import asset
from ptxemu import Event

NODE = shutil.which("node")
CTA, BYTES, READERS = (0, 0, 0), 4096, (4, 5, 6, 7)
FULL, EMPTY = (0x100, 0x108), (0x110, 0x118)


def at(kind, barrier, warps=(), **state):
    return Event(kind, "mbarrier", CTA, warps, barrier=barrier, **state)


def ring(tiles=3, stages=2):
    """Events of a producer, warp 0, and a consumer of four warps: every copy lands when it is awaited."""
    log = []
    for s in range(stages):
        log += [at("init", FULL[s], (0,), pending=1), at("init", EMPTY[s], (0,), pending=1)]

    def fill(tile):
        s, phase = tile % stages, tile // stages
        if phase:
            log.append(at("pass", EMPTY[s], (0,), phase=phase - 1, pending=1))
        log.append(at("arrive", FULL[s], (0,), nbytes=BYTES, phase=phase, pending=0, tx=BYTES))
        log.append(Event("issue", "bulk", CTA, (0,), number=tile + 1, nbytes=BYTES, barrier=FULL[s]))

    for tile in range(stages):
        fill(tile)
    for tile in range(tiles):
        s, phase = tile % stages, tile // stages
        log.append(at("wait", FULL[s], READERS, phase=phase, pending=0, tx=BYTES))
        log.append(Event("land", "bulk", CTA, number=tile + 1, nbytes=BYTES, barrier=FULL[s]))
        log.append(at("bytes", FULL[s], nbytes=BYTES, phase=phase, pending=0, tx=0))
        log.append(at("complete", FULL[s], phase=phase + 1, pending=1))
        log.append(at("pass", FULL[s], READERS, phase=phase, pending=1))
        log.append(at("arrive", EMPTY[s], (4,), phase=phase, pending=0))
        log.append(at("complete", EMPTY[s], phase=phase + 1, pending=1))
        if tile + stages < tiles:
            fill(tile + stages)
    return log


def test_barriers_are_named_by_whether_they_count_bytes():
    assert barrier_names(ring()) == {FULL[0]: "full 0", FULL[1]: "full 1", EMPTY[0]: "empty 0", EMPTY[1]: "empty 1"}
    assert barrier_names([at("init", 8, (0,), pending=4)]) == {8: "barrier 0"}
    assert [warps_text(w) for w in ((0,), (0, 2), (4, 5, 6, 7))] == ["warp 0", "warps 0, 2", "warps 4 to 7"]


def test_every_kind_of_event_has_a_sentence():
    names = barrier_names(ring())
    assert sentence(ring()[4], names) == "Warp 0 arrives at full 0 and announces 4,096 bytes"
    for what, kinds in {"wgmma": ("multiply", "multiplied", "commit", "wait_group"), "bulk": ("read", "land")}.items():
        for kind in kinds:
            assert sentence(Event(kind, what, CTA, (0,), number=1), names)


def test_roles_of_a_ring():
    rows = plots.roles(ring(tiles=4))
    assert list(rows) == ["producer: warp 0", "stage 0", "stage 1", "consumer: warps 4 to 7"]
    assert [(kind, label) for _, _, kind, label in rows["stage 0"]] == [
        ("load", "0"), ("compute", "0"), ("load", "2"), ("compute", "2"),
    ]  # fmt: skip
    assert [label for *_, kind, label in rows["consumer: warps 4 to 7"] if kind == "compute"] == ["0", "1", "2", "3"]
    for spans in rows.values():
        assert all(start < end for start, end, *_ in spans)
        assert all(a[1] <= b[0] for a, b in zip(spans, spans[1:], strict=False))


def test_a_consumer_waits_for_its_turn_and_stores():
    turn = 0x200
    log = [at("init", turn, (0,), pending=1), *ring(tiles=1, stages=1)]
    data = next(i for i, event in enumerate(log) if event.kind == "pass" and event.warps == READERS)
    log.insert(data + 1, at("wait", turn, READERS, phase=0, pending=1))
    log.insert(data + 2, at("pass", turn, READERS, phase=0, pending=1))
    log += [Event("issue", "bulk", CTA, (4,), number=9, nbytes=64), Event("commit", "bulk", CTA, (4,)),
            Event("wait_group", "bulk", CTA, (4,))]  # fmt: skip
    assert barrier_names(log)[turn] == "order 0"
    spans = plots.roles(log)["consumer: warps 4 to 7"]
    assert [kind for *_, kind, _ in spans] == ["wait", "compute", "barrier", "compute", "store"]


def test_a_stage_without_a_release_is_in_use_until_it_is_loaded_again():
    log = [event for event in ring(tiles=4) if event.barrier not in EMPTY]
    assert [kind for *_, kind, _ in plots.roles(log)["stage 1"]] == ["load", "compute", "load", "compute"]


def test_groups_of_cp_async_take_free_slots():
    def step(kind, number=0):
        return Event(kind, "cp.async", CTA, (0, 1), number=number, nbytes=512)

    log = [step("issue"), step("commit"), step("issue"), step("commit"), step("wait_group", 1), step("issue"),
           step("commit"), step("wait_group", 0)]  # fmt: skip
    rows = plots.roles(log)
    assert rows == {"group slot 0": [(0, 4, "load", "0"), (5, 7, "load", "2")], "group slot 1": [(2, 7, "load", "1")]}


def test_a_log_without_copies_is_refused():
    with pytest.raises(GemmlabError, match="no copy"):
        plots.roles([at("init", 8, (0,), pending=4)])
    with pytest.raises(GemmlabError, match="no mbarrier"):
        plots.phases([Event("commit", "wgmma", CTA, (0,))])
    with pytest.raises(GemmlabError, match="there is no barrier 'full 7'"):
        widgets.phases(ring(), ["full 7"])


def test_the_life_of_a_barrier():
    figure = plots.phases(ring(), ("full 0", "empty 0"))
    assert "Full 0: phase 0 is complete, phase 1 begins." in figure.alt and "empty 0" in figure.alt and figure.png()
    twin = widgets.phases(ring(), ["full 0"])
    assert twin.data["barriers"] == ["full 0"] and len(twin.html().encode()) < 100_000


@pytest.mark.skipif(NODE is None, reason="node is not installed: the component's arithmetic cannot be run")
def test_the_stepper_shows_the_state_after_each_event():
    data = widgets.phases(ring()).data
    page = "globalThis.window = globalThis; globalThis.document = {};\n" + asset("core.js") + asset("phases.js")
    for count in (5, 9, 12, len(data["events"])):
        show = f"gemmLadder.barrierStates({json.dumps(data)}, {count})"
        show = f"{show}.map((s) => s && [s.phase, s.pending, s.tx, [...s.waiting]])"
        show = f"{page}\nconsole.log(JSON.stringify({show}))"
        done = subprocess.run([NODE, "-e", show], capture_output=True, text=True, check=True)
        states, told = json.loads(done.stdout), [e for e in data["events"][:count] if "b" in e]
        for b, state in enumerate(states):
            last = next(e for e in reversed(told) if e["b"] == b and e["kind"] not in ("wait", "pass"))
            assert state[:3] == [last["phase"], last["pending"], last["tx"]]
            waits = [e for e in told if e["b"] == b and e["kind"] in ("wait", "pass")]
            assert state[3] == (list(READERS) if waits and waits[-1]["kind"] == "wait" else [])


def test_timeline_checks_its_kinds():
    rows = {"a": [(0, 3, "load", "0")], "b": [(3, 5, "compute", "0")]}
    assert "a 1 spans, b 1 spans" in plots.timeline(rows).alt
    assert "one: a 1 spans" in plots.timeline({"one": rows, "two": rows}, unit="ns").alt
    with pytest.raises(GemmlabError, match="unknown kind of span 'sleep'"):
        plots.timeline({"a": [(0, 1, "sleep", "")]})
    with pytest.raises(GemmlabError, match="no span"):
        plots.timeline({"a": []})


def test_events_of_a_kernel_of_the_ladder():
    rows = plots.roles(gl.trace_events("k09_cp_async", 64, 64, 32))
    assert sum(len(spans) for spans in rows.values()) == 4  # tiles of 8 along K, a group each
    with pytest.raises(GemmlabError, match="nothing asynchronous"):
        gl.trace_events("k05_tiled_square", 32, 32, 32)


def test_few_sms_give_a_cta_of_a_persistent_kernel_many_tiles():
    rows = plots.roles(gl.trace_events("k18_pingpong", 512, 512, 64, sms=2))
    consumers = [spans for name, spans in rows.items() if name.startswith("consumer")]
    assert len(consumers) == 2 and all(any(kind == "compute" for *_, kind, _ in spans) for spans in consumers)
