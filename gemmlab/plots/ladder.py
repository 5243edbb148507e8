"""Measured kernels beside their rivals, from the records in `results/`."""

from __future__ import annotations

from gemmlab.errors import GemmlabError
from gemmlab.hardware import gpu, rate_name
from gemmlab.plots import palette
from gemmlab.plots.figure import finish, new_figure, styled
from gemmlab.plots.roof import roofline
from gemmlab.plots.table import Table
from gemmlab.results import dram_bytes, find, slug
from gemmlab.roofline import Point, intensity
from gemmlab.roofline import ceilings as recorded_ceilings
from kernels import spec as spec_of

NOT_YET = "No measurement recorded yet"


@styled
def ladder_bars(records, *, shape: tuple[int, int, int] | None = None, machine: str = "NVIDIA H200", title=""):
    """Draw TFLOP/s of each recorded kernel at one shape, with the best rival as a black dashed line.

    records: dicts as `gemmlab.results.find` returns them; shape: (M, N, K), needed when the records hold several.
    An empty list gives a panel that says that nothing is recorded. Raises GemmlabError for records of several shapes.
    """
    records = [r for r in records if shape is None or (r["M"], r["N"], r["K"]) == tuple(shape)]
    if not records:
        return _empty()
    shapes = {(r["M"], r["N"], r["K"]) for r in records}
    if len(shapes) > 1:
        raise GemmlabError(f"records of {len(shapes)} shapes: choose one with shape=(M, N, K)")
    ((m, n, k),) = shapes
    figure, axes = new_figure(1.15 + 0.32 * len(records))
    ax = axes[0, 0]
    best = max(r["rival_best_tflops"] for r in records)
    top = max([best] + [r["tflops"] for r in records])
    for row, record in enumerate(records):
        ax.barh(row, record["tflops"], color=palette.C, height=0.68)
        text = f"{record['tflops']:.3g}" + (f"  ({record['ratio']:.0%} of cuBLAS)" if record["ratio"] else "")
        _bar_text(ax, row, record["tflops"], best, top, text)
    if best:
        ax.axvline(best, color=palette.CUBLAS, lw=1.4, ls="--")
        ax.text(best, len(records) - 0.25, f"cuBLAS best {best:.3g} ", ha="right", va="center", fontsize=8.5)
    ax.set_yticks(range(len(records)), [r["kernel"] for r in records])
    ax.set(ylim=(len(records), -0.6), xlim=(0, top * 1.06), xlabel="TFLOP/s")
    ax.tick_params(axis="y", length=0)
    ax.set_title(title or f"{records[0]['dtype']} GEMM, {m} × {n} × {k}")
    text = "; ".join(f"{r['kernel']} {r['tflops']:.3g} TFLOP/s" for r in records)
    when = ", ".join(sorted({r["date"] for r in records}))
    return finish(figure, f"Bars: {text}; best rival {best:.3g} TFLOP/s.", f"Recorded on {machine}, {when}; medians.")


def _bar_text(ax, row, rate, best, top, text):
    """Write in a long bar, left of the rival's line, and beside a short one."""
    look = {"ha": "left", "va": "center", "fontsize": 8.5}
    if rate > 0.45 * top:
        look |= {"ha": "right", "color": palette.ink_on(palette.C)}
        ax.text(min(rate, best or rate) - 0.012 * top, row, text, **look)
    else:
        ax.text(rate + 0.012 * top, row, text, **look)


def recorded_roofline(on="H200", dtype="float32", *, kernels, shape=(4096, 4096, 4096), bytes="ideal", counters=None,
                      ceilings: bool | None = None, linear: bool = False):
    """Draw the recorded rate of kernels, and of cuBLAS, under the roof of the GPU that they were recorded on.

    kernels: names of Specs; shape: (M, N, K). bytes: "ideal" (each element moved once) puts all at one intensity;
    "requested" needs counters: {kernel: `ptxemu.Counters`}; "measured DRAM" uses the profiler's bytes in the record.
    Kernels without a record are named in the caption and get no point. ceilings: draw what the arithmetic alone reached
    there (`gemmlab.roofline.ceilings`; default: for tensor cores only, those of mma.sync where a kernel uses it);
    linear: rates on a linear axis. Raises GemmlabError when bytes are not known.
    """
    m, n, k = shape
    stem = {"h200": "nvidia_h200"}.get(gpu(on).key, gpu(on).key)
    found = {name: next(iter(find(name, m, n, k, gpu=stem)), None) for name in kernels}
    points, dates = [], set()
    for name, record in found.items():
        if record is None:
            continue
        where = _intensity(name, record, shape, dtype, bytes, counters)
        points.append(Point(name, where, record["tflops"], bytes, f"recorded, {record['date']}"))
        dates.add(record["date"])
    rivals = [r["rival_best_tflops"] for r in found.values() if r and r["rival_best_tflops"]]
    if rivals:
        points.append(Point("cuBLAS best", intensity(m, n, k, dtype), max(rivals), "ideal", "recorded"))
    missing = [name for name, record in found.items() if record is None]
    said = [f"Recorded on {gpu(on).name}, {', '.join(sorted(dates))}, {m} × {n} × {k}."] if dates else []
    said += [f"Not recorded yet: {', '.join(missing)}."] if missing else []
    wanted = rate_name(dtype) != "float32" if ceilings is None else ceilings
    found = recorded_ceilings(dtype, stem) if wanted else []
    lines = {ceiling.label.partition(",")[0]: ceiling.tflops for ceiling in found}
    if all(spec_of(name).suffix == "a" for name in kernels):  # wgmma throughout: no mma.sync to compare with
        lines = {name: rate for name, rate in lines.items() if not name.startswith("mma.sync")}
    return roofline(on, dtype, points=points, caption=" ".join(said), ceilings=lines, linear=linear)


def _intensity(name, record, shape, dtype, kind, counters):
    if kind == "ideal":
        return intensity(*shape, dtype)
    if kind == "requested":
        if name not in (counters or {}):
            raise GemmlabError(f'pass counters={{"{name}": gl.count("{name}", M, N, K)}} for requested bytes')
        return counters[name].intensity
    moved = dram_bytes(record)
    if not moved:
        raise GemmlabError(f"the record of {name} holds no profiler bytes: use bytes=\"ideal\" or \"requested\"")
    return intensity(*shape, dtype, traffic=moved)


def _empty():
    figure, axes = new_figure(0.7)
    axes[0, 0].axis("off")
    axes[0, 0].text(0, 0.5, NOT_YET, fontsize=10, transform=axes[0, 0].transAxes, va="center")
    return finish(figure, NOT_YET + ".")


def ladder_table(steps, shape=(4096, 4096, 4096), *, machine: str = "NVIDIA H200", directory=None, title="") -> Table:
    """Return the table that ends a lesson: each step with its prediction, recorded rate, ratio and what limits it.

    steps: {kernel: (prediction, limit)}, texts of the lesson, for names of Specs; rates are those recorded on `machine`
    at `shape` (M, N, K). A kernel without a record says so. Where the profiler saw the tensor cores at work, a column
    tells their busy share of the time.
    """
    found = {name: next(iter(find(name, *shape, gpu=slug(machine), directory=directory)), None) for name in steps}
    busy = {name: _tensor_pct(record) for name, record in found.items()}
    profiled, rows = any(busy.values()), []
    for name, (prediction, limit) in steps.items():
        record = found[name]
        rate = (f"{record['tflops']:.3g}", f"{record['ratio']:.2f}") if record else ("not recorded", "")
        pipe = (f"{busy[name]:.0f} %" if busy[name] else "–",) if profiled else ()
        rows.append((name, prediction, *rate, *pipe, limit))
    dates = {record["date"] for record in found.values() if record}
    when = f"Recorded on {machine}, {', '.join(sorted(dates))}, {' × '.join(map(str, shape))}." if dates else ""
    when += " Tensor pipe: busy share of the time (Nsight Compute)." if profiled else ""
    columns = ("step", "predicted", "TFLOP/s", "of cuBLAS", *(("tensor pipe",) if profiled else ()), "limited by")
    return Table(title or "The steps of this chapter", columns, tuple(rows), when)


def _tensor_pct(record) -> float:
    """Return the share of the time in which the tensor pipe worked, in percent; 0 where it was not profiled."""
    return record.get("profile", {}).get("tensor_pct", 0.0) if record else 0.0
