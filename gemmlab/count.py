"""Count what a GEMM kernel does, by source line, and record the addresses that a warp uses. Always on the emulator."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

import numpy as np

from gemmlab.args import Geometry
from gemmlab.backend import sms_of
from gemmlab.call import Call
from gemmlab.compile import Compiled
from gemmlab.errors import GemmlabError
from gemmlab.launch import emulate, prepare
from gemmlab.reference import Problem, numpy_dtype
from gemmlab.rules import evaluate_rule, launch_rule, mapped
from gemmlab.source import resolve
from ptxemu.counters import Counters, Site
from ptxemu.events import Event, Events
from ptxemu.trace import Access, Trace

TRACE_LIMIT = 1 << 14  # accesses
CODE_WIDTH = 60  # characters of a source line in a table
CODE_BESIDE = 24  # … in a page's table that has columns of shared memory too
COLUMNS = ("line", "code", "instructions", "array", "requests", "sectors/request", "wavefronts", "excess", "bytes")


@dataclass(frozen=True)
class Line:
    """The counts of one source line. `arrays`: the arrays that it touches in global memory; bytes as requested.

    `in_global`: the part that is global memory, as a line may copy from there to shared memory.
    """

    file: str
    line: int
    code: str
    arrays: tuple[str, ...]
    site: Site
    in_global: Site

    def cells(self) -> tuple[str, ...]:
        """Return the line as text, in the order of COLUMNS; empty where nothing is counted."""
        site = self.site
        return (
            str(self.line),
            self.code,
            f"{site.executions:,}",
            ", ".join(self.arrays),
            f"{site.requests:,}" if site.requests else "",
            f"{self.in_global.sectors_per_request:.2f}" if self.in_global.requests else "",
            f"{site.wavefronts:,}" if site.wavefronts else "",
            f"{site.excess_wavefronts:,}" if site.wavefronts else "",
            f"{site.bytes:,}" if site.bytes else "",
        )


class Counts(Counters):
    """The counters of one launch (see Counters) with the kernel's source, its arrays and the report.

    `report`: the emulator's report; `lines`: one Line per source line; `arrays`: {name: Site} summed per array.
    """

    def __init__(self, report, compiled: Compiled, title: str):
        super().__init__(report.counters.sites)
        self.report, self.title = report, title
        touched: dict[int, set[str]] = {}
        for access in report.trace:
            if access.space == "global" and access.name:
                touched.setdefault(access.site.ptx_line, set()).add(access.name)
        self.arrays: dict[str, Site] = {}
        by_line: dict[tuple[str, int], set[str]] = {}
        in_global: dict[tuple[str, int], Site] = {}
        for site in self.sites:
            names = touched.get(site.ptx_line, set())
            if len(names) == 1 and site.space == "global" and site.op:
                name = next(iter(names))
                self.arrays.setdefault(name, Site("", "", 0, 0, "global", "")).add(site)
            place = site.file, site.line
            by_line.setdefault(place, set()).update(names)
            in_global.setdefault(place, Site("", *place, 0, "global", ""))
            if site.space == "global":
                in_global[place].add(site)
        self.lines = [
            Line(*place, _code(compiled.source_line(*place)), tuple(sorted(by_line[place])), site, in_global[place])
            for place, site in sorted(self.by_line().items())
            if place[1] and site.executions
        ]

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return (columns, rows) of text, without the columns that are empty throughout."""
        rows = [line.cells() for line in self.lines]
        if len({line.file for line in self.lines}) > 1:
            rows = [(f"{line.file}:{row[0]}", *row[1:]) for line, row in zip(self.lines, rows, strict=True)]
        kept = [i for i, _ in enumerate(COLUMNS) if any(row[i] for row in rows)]
        return tuple(COLUMNS[i] for i in kept), [tuple(row[i] for i in kept) for row in rows]

    def summary(self) -> list[str]:
        """Return the totals as lines of text: the launch's, then each array's global requests."""
        arrays = [
            f"{name}: {site.requests:,} requests, {site.sectors_per_request:.2f} sectors each, {site.bytes:,} bytes"
            for name, site in sorted(self.arrays.items())
        ]
        return [*super().__str__().splitlines(), *arrays]

    def __str__(self):
        columns, rows = self.table()
        widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
        left = {"code", "array"}

        def text(row):
            cells = zip(columns, row, widths, strict=True)
            return "  ".join(cell.ljust(w) if name in left else cell.rjust(w) for name, cell, w in cells).rstrip()

        return "\n".join([self.title, text(columns), *map(text, rows), *self.summary()])

    __repr__ = __str__

    def _repr_html_(self):
        columns, rows = self.table()
        width = CODE_BESIDE if "wavefronts" in columns else CODE_WIDTH

        def cell(name, value, tag="td"):
            style = "text-align:left" if name in ("code", "array") else "text-align:right"
            text = html.escape(_cut(value, width)) if name == "code" else html.escape(value).replace("/", "/<br>")
            inner = f"<code>{text}</code>" if name == "code" and tag == "td" and text else text
            return f'<{tag} style="{style}">{inner}</{tag}>'

        head = "".join(cell(name, name, "th") for name in columns)
        body = "".join(
            f"<tr>{''.join(cell(name, value) for name, value in zip(columns, row, strict=True))}</tr>" for row in rows
        )
        summary = "<br>".join(map(html.escape, self.summary()))
        return (
            f"<table><caption>{html.escape(self.title)}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table><p>{summary}</p>"
        )

    def to_dict(self):
        """Plain data for JSON: the counters, by source line and by array."""
        names = ("file", "line", "code", "arrays")
        lines = [
            {name: getattr(x, name) for name in names}
            | _counts(x.site)
            | {"sectors_per_request": x.in_global.sectors_per_request}
            for x in self.lines
        ]
        arrays = {name: _counts(site) for name, site in self.arrays.items()}
        totals = {"mix": self.mix(), "flops": self.flops, "intensity": self.intensity}
        return {"kernel": self.title, **totals, "lines": lines, "arrays": arrays}


def _code(text: str) -> str:
    """Return a source line without its indentation and comment, at most CODE_WIDTH characters."""
    return _cut(re.split(r"\s+(?:#|//)", text.strip())[0], CODE_WIDTH)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _counts(site: Site) -> dict[str, int | float]:
    names = ("executions", "threads", "requests", "sectors", "wavefronts", "wavefronts_ideal", "bytes")
    return {name: getattr(site, name) for name in names} | {"sectors_per_request": site.sectors_per_request}


def count(kernel, M: int, N: int, K: int, rule=None, *, schedule="late", **launch) -> Counts:
    """Run a GEMM kernel once on the emulator at M × N × K and return its counters, by source line.

    `rule`, or grid= and block=, say how a kernel outside the ladder is launched. Raises GemmlabError for bad input.
    """
    report, compiled, name = _run(kernel, (M, N, K), rule, launch, Trace(limit=TRACE_LIMIT), schedule, True)
    return Counts(report, compiled, f"{name}, M={M}, N={N}, K={K}: counted on the emulator")


def trace(kernel, M: int, N: int, K: int, cta=(0, 0, 0), warp: int = 0, rule=None, **launch) -> list[Access]:
    """Return the memory accesses of one warp of one CTA (`cta`: x, y, z), in order; see ptxemu.Access.

    cta=None takes all CTAs and warp=None all warps of each: what `plots.reads_per_element` needs, at a small size.

    Raises GemmlabError for bad input, also for a warp or a CTA that the launch does not have.
    """
    rule = launch_rule(kernel, rule, **launch)
    grid, block, _ = evaluate_rule(rule, M, N, K, sms_of(kernel, "emulator"))
    everywhere = tuple((x, y, z) for z in range(grid[2]) for y in range(grid[1]) for x in range(grid[0]))
    ctas = everywhere if cta is None else ((*((cta,) if isinstance(cta, int) else tuple(cta)), 0, 0)[:3],)
    if cta is not None and not all(0 <= index < extent for index, extent in zip(ctas[0], grid, strict=True)):
        raise GemmlabError(f"there is no block {ctas[0]} in a grid of {grid}")
    warps = -(-block[0] * block[1] * block[2] // 32)
    if warp is not None and not 0 <= warp < warps:
        raise GemmlabError(f"there is no warp {warp} in a block of {block}: it has {warps}")
    limit = TRACE_LIMIT * (len(ctas) if cta is None else 1) * (warps if warp is None else 1)
    wanted = Trace(ctas=ctas, warps=tuple(range(warps)) if warp is None else (warp,), limit=limit)
    return _run(kernel, (M, N, K), rule, {}, wanted, "late", False)[0].trace


def trace_events(
    kernel, M: int, N: int, K: int, cta=(0, 0, 0), rule=None, *, schedule="late", sms: int | None = None, **launch
) -> list[Event]:
    """Return what runs asynchronously in one CTA (`cta`: x, y, z), in the order of the emulator; see ptxemu.Event.

    That is: mbarriers, bulk copies, cp.async groups and wgmma. sms: SMS in the launch rule of a persistent kernel
    (default: the emulator's), so that few CTAs take many tiles. Raises GemmlabError for bad input, and for a kernel
    that has none of them.
    """
    events = Events(ctas=((*((cta,) if isinstance(cta, int) else tuple(cta)), 0, 0)[:3],), limit=TRACE_LIMIT)
    _run(kernel, (M, N, K), rule, launch, None, schedule, False, events, sms)
    if not events.log:
        raise GemmlabError(f"CTA {events.ctas[0]} ran nothing asynchronous: no mbarrier, TMA, cp.async or wgmma")
    return events.log


def _run(kernel, shape, rule, launch, wanted, schedule, count, events=None, sms=None):
    M, N, K = shape
    for name, size in zip("MNK", shape, strict=True):
        if not isinstance(size, (int, np.integer)) or isinstance(size, bool) or size < 1:
            raise GemmlabError(f"{name} = {size!r}: give an integer of at least 1")
    rule = launch_rule(kernel, rule, **launch)
    code, spec = (kernel, kernel.spec) if isinstance(kernel, Compiled) else resolve(kernel)
    if spec and not spec.accepts(M, N, K):
        raise GemmlabError(f"{spec.name} needs M, N and K to be multiples of {spec.align}, got {M}, {N}, {K}")
    problem = Problem.of(spec, rule)
    A, B = problem.inputs(np.random.default_rng(0), M, N, K)
    C = np.zeros((M, N), numpy_dtype(problem.c_dtype))
    call = Call(rule, A, B, C, sms or sms_of(kernel, "emulator"))
    values = call.args()
    compiled, _ = prepare(kernel, values, "emulator")
    names = [mapped(name) or name for name in rule["args"]]
    options = {"check": False, "count": count, "trace": wanted, "schedule": schedule, "events": events}
    report = emulate(compiled, values, names, Geometry.of(**call.launch), **options)
    name = spec.name if spec else getattr(code, "entry", None) or getattr(code, "py_func", code).__name__
    if not report.completed:
        why = next((str(found).splitlines()[0] for found in report.errors), "a limit was reached")
        raise GemmlabError(f"{name} did not finish on the emulator, so its counts mean nothing: {why}")
    name = "; ".join((name, *call.notes))
    return report, compiled, name
