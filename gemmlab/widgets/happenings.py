"""Explorers of the emulator's events: barriers step by step, and who does what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gemmlab.errors import GemmlabError
from gemmlab.plots.event_text import barrier_names, sentence
from gemmlab.plots.phases import of_barriers
from gemmlab.plots.roles import roles as role_rows
from gemmlab.widgets.explorers import timeline
from gemmlab.widgets.twin import Twin

LONGEST = 400  # events that the stepper carries
SOURCE = "From the emulator's events."


def phases(events: Sequence, barriers=None, *, start: int = 1, title="") -> Twin:
    """Step through the events of one CTA (`gl.trace_events`) and see what each mbarrier still lacks.

    barriers: names such as ("full 0", "empty 0"), None for all; events of copies towards them are told too. start: the
    event shown first. At most 400 events are kept. Raises GemmlabError for a log without such barriers.
    """
    names = barrier_names(events)
    chosen = [address for address, name in names.items() if name in of_barriers(events, barriers)]
    told = [event for event in events if event.barrier in chosen][:LONGEST]
    if not 1 <= start <= len(told):
        raise GemmlabError(f"start = {start!r}: there are events 1 to {len(told)}")
    data = {
        "title": title or "What the barriers wait for",
        "barriers": [names[address] for address in chosen],
        "events": [_entry(event, chosen, names) for event in told],
        "start": start,
        "source": SOURCE,
    }
    text = ". ".join(entry["text"] for entry in data["events"][:40])
    return Twin("phases", data, f"{data['title']}, event by event. {text}.")


def roles(events, *, title="Who does what", source="") -> Twin:
    """Show producers, stages and consumers of one CTA on a common axis, in the order of the emulator's events.

    events: of `gl.trace_events`, or {variant title: events}. Raises GemmlabError as `gl.plots.roles`.
    """
    variants = events if isinstance(events, Mapping) else {"": events}
    rows = {name: role_rows(some) for name, some in variants.items()}
    return timeline(rows, unit="events", title=title, source=source or f"{SOURCE} Their order, not their duration.")


def _entry(event, chosen, names) -> dict:
    entry = {"text": sentence(event, names)}
    if event.what == "mbarrier":
        entry |= {"b": chosen.index(event.barrier), "kind": event.kind, "phase": event.phase,
                  "pending": event.pending, "tx": event.tx}  # fmt: skip
        if event.kind in ("wait", "pass"):
            entry["warps"] = list(event.warps)
    return entry
