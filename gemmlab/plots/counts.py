"""Bars from the emulator's counters: the instruction mix, and sectors per request by source line."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace

from gemmlab.plots import palette
from gemmlab.plots.figure import WIDTH, finish, new_figure, styled

LONG = {
    "fma": "multiply-add", "fp": "other float", "int": "integer", "convert": "convert", "special": "special function",
    "ldg": "global load", "stg": "global store", "lds": "shared load", "sts": "shared store", "ldl": "local load",
    "stl": "local store", "ldc": "constant load", "atomic": "atomic", "barrier": "barrier", "branch": "branch",
    "shuffle": "shuffle/vote", "mma": "tensor core", "ldgsts": "asynchronous copy", "tma": "bulk copy",
    "ldsm": "matrix load", "stsm": "matrix store", "other": "move and other",
}  # fmt: skip
WORK = {"fma", "mma"}


@styled
def instruction_mix(counters, *, title=""):
    """Draw warp-level instructions by class as shares of the whole, with the useful arithmetic in green.

    counters: `ptxemu.Counters` (or anything with `.mix()`), or {variant title: counters} to compare kernels.
    """
    variants = counters if isinstance(counters, Mapping) else {"": counters}
    mixes = {name: one.mix() for name, one in variants.items()}
    kinds = list(dict.fromkeys(kind for mix in mixes.values() for kind in mix))
    shares = {name: {k: mix.get(k, 0) / (sum(mix.values()) or 1) for k in kinds} for name, mix in mixes.items()}
    kinds.sort(key=lambda kind: -max(share[kind] for share in shares.values()))
    widest = max((max(share.values(), default=1) for share in shares.values()), default=1)  # one scale for all variants
    figure, axes = new_figure(0.75 + 0.24 * len(kinds), width=WIDTH, columns=len(mixes), sharey=True)
    for ax, (name, share) in zip(axes[0], shares.items(), strict=True):
        for row, kind in enumerate(kinds):
            colour = palette.C if kind in WORK else palette.LEVELS["L2"]
            ax.barh(row, share[kind], color=colour, height=0.72)
            count = mixes[name].get(kind, 0)
            ax.text(share[kind] + 0.01, row, f"{share[kind]:.0%}  {count:,}", va="center", fontsize=8)
        ax.set_yticks(range(len(kinds)), [LONG.get(kind, kind) for kind in kinds])
        ax.set(ylim=(len(kinds) - 0.4, -0.6), xlim=(0, widest * 1.75 or 1), xticks=[])
        ax.spines["bottom"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.set_title(name or title or "Warp instructions by class, counted")
    if title and "" not in mixes:
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold", fontsize=10.5)
    text = " ".join(
        f"{name + ': ' if name else ''}" + ", ".join(f"{LONG.get(k, k)} {share[k]:.0%}" for k in kinds) + "."
        for name, share in shares.items()
    )
    return finish(figure, f"Warp-level instructions by class. {text}")


@styled
def sectors_by_line(counters, *, title=""):
    """Draw 32-byte sectors per request for each global-memory instruction, with its source line and opcode.

    counters: `ptxemu.Counters` (or anything with `.sites`). The thin line marks 4: what 32 lanes with 4 adjacent bytes
    each need. A kernel without global access gives a panel that says so.
    """
    sites = _by_source(s for s in counters.sites if s.space == "global" and s.requests)
    figure, axes = new_figure(0.85 + 0.28 * max(1, len(sites)))
    ax = axes[0, 0]
    ax.set_title(title or "Sectors per request, counted")
    if not sites:
        ax.axis("off")
        ax.text(0, 0.4, "No global memory access", transform=ax.transAxes, fontsize=10)
        return finish(figure, "No global memory access.")
    for row, site in enumerate(sites):
        value = site.sectors_per_request
        ax.barh(row, value, height=0.7, color=palette.PROBLEM if value > 4 else palette.LEVELS["L2"])
        ax.text(value + 0.4, row, f"{value:.3g}  ({site.requests:,} requests)", va="center", fontsize=8,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})  # fmt: skip
    ax.axvline(4, color=palette.INK, lw=0.9, ls=":")
    ax.set_yticks(range(len(sites)), [f"line {s.line}  {s.opcode}" for s in sites])
    widest = max(s.sectors_per_request for s in sites)
    ax.set(ylim=(len(sites) - 0.4, -0.6), xlim=(0, max(5.0, widest) * 1.35))
    ax.set_xticks([0, 4, 8, 16, 32] if widest > 8 else [0, 4, 8])
    ax.tick_params(axis="y", length=0)
    text = "; ".join(f"line {s.line}, {s.opcode}: {s.sectors_per_request:.3g} ({s.requests:,} requests)" for s in sites)
    return finish(figure, f"Sectors per global-memory request by instruction. {text}.")


def _by_source(sites) -> list:
    """Sum the copies of an instruction that unrolling made: same line, opcode and sectors per request."""
    found: dict[tuple, int] = {}
    for site in sites:
        key = (site.line, site.opcode, site.sectors_per_request)
        found[key] = found.get(key, 0) + site.requests
    return [
        SimpleNamespace(line=line, opcode=opcode, sectors_per_request=sectors, requests=requests)
        for (line, opcode, sectors), requests in found.items()
    ]
