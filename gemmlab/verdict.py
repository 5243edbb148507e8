"""What the compiler made of a kernel: registers, spills, shared memory, occupancy, warnings, machine instructions."""

from __future__ import annotations

import html
from dataclasses import dataclass

from gemmlab.compile import Compiled, compile_kernel
from gemmlab.errors import GemmlabError
from gemmlab.occupancy import Occupancy, occupancy_of
from gemmlab.rules import dynamic_shared
from gemmlab.sass import FAMILIES, Instructions, instructions


@dataclass(frozen=True)
class Verdict:
    """The assembler's report on one kernel and a count of its machine instructions.

    `occupancy` is None for a kernel whose launch nothing describes, `instructions` without a disassembler (`missing`
    says what to install). `faults`: warnings, and ptxas' C75xx messages (wgmma serialised, waits injected): the values
    are right then, the speed is not.
    """

    kernel: str
    compiled: Compiled
    occupancy: Occupancy | None
    instructions: Instructions | None
    missing: str = ""

    @property
    def faults(self) -> tuple[str, ...]:
        return self.compiled.assembly.remarks

    def facts(self) -> dict[str, str]:
        """Return what is known, as text by name."""
        c = self.compiled
        if c.registers is None:
            return {"target": c.target, "assembler": f"{c.assembly.assembler}: registers are not reported"}
        dynamic = _dynamic_shared(c)
        shared = f"{c.static_shared:,} B static" + (f" + {dynamic:,} B dynamic" if dynamic else "")
        facts = {
            "target": f"{c.target}, {c.assembly.assembler}",
            "registers": f"{c.registers} per thread, {c.spill_bytes:,} B spilled",
            "shared memory": shared,
        }
        if self.occupancy:
            facts["an SM holds"] = str(self.occupancy)
        facts["warnings"] = "; ".join(self.faults) or "none"
        return facts

    def rows(self) -> list[tuple[str, str, int, int]]:
        """Return (mnemonic, what it is, instructions in all, in the main loop) of the families that occur, then the
        rest and the sum.
        """
        if self.instructions is None:
            return []
        total, loop = self.instructions.total, self.instructions.loop
        rows = [(name, what, total[name], loop[name]) for name, what in FAMILIES.items() if total[name]]
        rest = [sum(n for name, n in counts.items() if name not in FAMILIES) for counts in (total, loop)]
        return [*rows, ("others", "addresses, tests, branches", *rest), ("all", "", total.total(), loop.total())]

    def __str__(self) -> str:
        lines = [self.kernel, *(f"  {name}: {text}" for name, text in self.facts().items())]
        if rows := self.rows():
            lines.append(f"  {'instructions':<13}{'in all':>7}{'main loop':>11}")
            lines += [f"  {name:<13}{total:>7,}{loop:>11,}  {what}".rstrip() for name, what, total, loop in rows]
        return "\n".join([*lines, *([f"  {self.missing}"] if self.missing else [])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        facts = "".join(f"<tr><th>{html.escape(k)}</th><td>{html.escape(v)}</td></tr>" for k, v in self.facts().items())
        rows = "".join(
            f"<tr><td><code>{name}</code></td><td>{total:,}</td><td>{loop:,}</td><td>{html.escape(what)}</td></tr>"
            for name, what, total, loop in self.rows()
        )
        table = (
            "<table><thead><tr><th>instructions</th><th>in all</th><th>main loop</th><th></th></tr></thead>"
            f"<tbody>{rows}</tbody></table>"
        )
        head = f"<table><caption>{html.escape(self.kernel)}</caption><tbody>{facts}</tbody></table>"
        return head + (table if rows else "") + (f"<p>{html.escape(self.missing)}</p>" if self.missing else "")

    def to_dict(self) -> dict:
        """Plain data for JSON."""
        c, found = self.compiled, self.instructions
        return {
            "kernel": self.kernel,
            "target": c.target,
            "assembler": c.assembly.assembler,
            "registers": c.registers,
            "spill_bytes": c.spill_bytes,
            "static_shared": c.static_shared,
            "dynamic_shared": _dynamic_shared(c),
            "blocks_per_sm": self.occupancy and self.occupancy.blocks,
            "faults": list(self.faults),
            "instructions": dict(found.total) if found else None,
            "main_loop": dict(found.loop) if found else None,
        }


def _dynamic_shared(compiled: Compiled) -> int:
    """Return the dynamic shared memory of a CTA in bytes; 0 for a kernel that is no Spec's."""
    return dynamic_shared(compiled.spec.rule()) if compiled.spec else 0


def verdict(kernel, target: str | None = None) -> Verdict:
    """Say what the compiler made of a kernel: a Spec or its name, a Numba kernel, a CudaSource, a Compiled.

    Needs no GPU. Without nvdisasm the instructions are left out. Raises GemmlabError for code that does not compile.
    """
    compiled = compile_kernel(kernel, target)
    name = compiled.title
    held = occupancy_of(compiled) if compiled.spec and compiled.registers else None
    try:
        return Verdict(name, compiled, held, instructions(compiled.sass(), compiled.entry))
    except GemmlabError as error:
        return Verdict(name, compiled, held, None, str(error))
