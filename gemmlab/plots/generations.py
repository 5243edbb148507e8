"""Tensor cores from Volta to Blackwell: published rates, and what one of their instructions does per register."""

from __future__ import annotations

from gemmlab.hardware import SOURCES, gpu, rate_name
from gemmlab.plots import palette
from gemmlab.plots.figure import finish, new_figure, styled
from gemmlab.plots.roof import NAMES
from gemmlab.plots.table import Table
from ptxemu import mma_layout

# GPU -> (generation, the PTX instruction that its tensor cores are made for, where the factors and the sums are)
GENERATIONS = {
    "v100": ("Volta", "mma m8n8k4", "registers", "registers"),
    "t4": ("Turing", "mma m16n8k8", "registers", "registers"),
    "a100-80": ("Ampere", "mma m16n8k16", "registers", "registers"),
    "h100": ("Hopper", "wgmma m64nNk16", "shared memory (A also registers)", "registers"),
    "b200": ("Blackwell", "tcgen05.mma", "shared memory (A also tensor memory)", "tensor memory"),
}
INSTRUCTIONS = {  # title -> (m, n, k, factor type, sum type), one warp
    "mma m16n8k8 TF32": (16, 8, 8, "tf32", "f32"),
    "mma m16n8k16 BF16": (16, 8, 16, "bf16", "f32"),
    "mma m16n8k32 INT8": (16, 8, 32, "s8", "s32"),
}
WGMMA = {"wgmma m64n256k16 BF16": (64, 256, 16, "bf16", "f32")}


def tensor_core_table(dtypes=("float16", "bfloat16", "tf32", "fp8", "int8")) -> Table:
    """Return a table of five generations: instruction, where its operands are, dense and 2:4 sparse rates.

    Rates are those of gemmlab.hardware (published, per GPU); the FMAs per SM and cycle are derived from the FP16 rate
    and the clock at which it is published. Raises GemmlabError for an unknown data type.
    """
    names = (NAMES.get(rate_name(dtype), str(dtype).upper()) for dtype in dtypes)
    columns = ("", "instruction", "factors from", "sums in", *names, "FP16 FMA / SM / cycle")
    rows, links = [], {}
    for key, (name, instruction, factors, sums) in GENERATIONS.items():
        card = gpu(key)
        clock = card.tensor_clock_mhz or card.clock_mhz
        each = f"{card.peak('float16') * 1e6 / (2 * card.sms * clock):,.0f}" if clock else "clock not published"
        rates = (_rates(card, dtype) for dtype in dtypes)
        rows.append((f"{name}: {card.name}", instruction, factors, sums, *rates, each))
        links |= {SOURCES[source]: None for source in card.sources}
    note = "INT8: TOP/s; –: no such rate. FMAs per SM and cycle are derived from the rounded rate and its clock."
    title = "Tensor cores, five generations: TFLOP/s of one GPU, dense / with 2:4 structured sparsity"
    return Table(title, columns, tuple(rows), note, tuple(links))


def _rates(card, dtype) -> str:
    if dtype not in card.rates:
        return "–"
    dense = card.peak(dtype)
    return f"{dense:,g} / {card.peak(dtype, sparse=True):,g}" if card.sparse else f"{dense:,g} / –"


def fma_per_register_of() -> dict[str, float]:
    """Return {instruction: FMAs for each 32-bit register, of all its lanes, that holds A, B or C}: derived.

    Counted on the fragments of ptxemu.mma_layout; a scalar FFMA has three registers. wgmma keeps only C in registers.
    """
    found = {"FFMA": 1 / 3}
    for name, (m, n, k, factor, total) in INSTRUCTIONS.items():
        kinds = {"a": factor, "b": factor, "c": total}
        registers = sum(mma_layout(operand, kind, m, n, k).registers for operand, kind in kinds.items())
        found[name] = m * n * k / (32 * registers)
    for name, (m, n, k, _, total) in WGMMA.items():
        found[name] = m * n * k / (128 * mma_layout("c", total, 16, n, k).registers)
    return found


@styled
def fma_per_register(*, title=""):
    """Draw how many multiply-adds an instruction does for each data register that it names (derived)."""
    found = fma_per_register_of()
    figure, axes = new_figure(0.75 + 0.33 * len(found))
    ax = axes[0, 0]
    for row, (name, value) in enumerate(found.items()):
        ax.barh(row, value, color=palette.LEVELS["L2"] if name == "FFMA" else palette.C, height=0.68)
        ax.text(value * 1.06, row, f"{value:.3g}", va="center", fontsize=8.5)
    ax.set_xscale("log", base=2)
    ax.set_yticks(range(len(found)), list(found))
    ax.set(ylim=(len(found) - 0.4, -0.6), xlim=(0.2, 40), xlabel="multiply-adds per 32-bit data register")
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.tick_params(axis="y", length=0)
    ax.set_title(title or "What one register earns")
    text = "; ".join(f"{name} {value:.3g}" for name, value in found.items())
    caption = "Derived: m·n·k over the registers of A, B and C in all lanes. wgmma reads A and B from shared memory."
    return finish(figure, f"Multiply-adds per data register. {text}.", caption)
