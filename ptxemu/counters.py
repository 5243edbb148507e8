"""Counters of one launch: per instruction, per source line and in total, named after what a profiler calls them."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from .fragments import shape_of

_INT_OPS = frozenset(
    "add sub mul mul24 mad mad24 sad div rem abs neg min max popc clz bfind fns brev bfe bfi bmsk szext dp4a dp2a and "
    "or xor not cnot lop3 shf shl shr prmt addc subc madc setp set selp slct".split()
)
_FP_OPS = frozenset("add sub mul min max abs neg copysign setp set selp testp".split())
_SPECIAL_OPS = frozenset("rcp sqrt rsqrt sin cos lg2 ex2 tanh div".split())
_BARRIER_OPS = frozenset("bar barrier membar fence mbarrier".split())
_BRANCH_OPS = frozenset("bra brx call ret exit trap".split())
_SHUFFLE_OPS = frozenset("shfl vote match activemask redux movmatrix".split())
_MEMORY_CLASS = {
    ("ld", "global"): "ldg",
    ("st", "global"): "stg",
    ("ld", "shared"): "lds",
    ("st", "shared"): "sts",
    ("ld", "local"): "ldl",
    ("st", "local"): "stl",
    ("ld", "const"): "ldc",
    ("ld", "param"): "ldc",
}


def instruction_class(opcode, op="", space=""):
    """Class of an instruction in ``Counters.mix``: "fma", "fp", "special", "int", "convert", "ldg", "stg", "lds",
    "sts", "ldgsts" (cp.async), "tma" (bulk copies), "ldsm", "stsm" (ldmatrix, stmatrix), "mma", "atomic", …
    """
    if opcode.startswith("cp.") and ".bulk" in opcode:
        return "tma" if op else "barrier"
    if opcode.startswith("cp.async"):
        return "ldgsts" if op else "barrier"
    if opcode.startswith(("ldmatrix", "stmatrix")):
        return "ldsm" if op == "ld" else "stsm"
    if opcode.startswith("wgmma"):
        return "mma" if op else "barrier"
    if op in ("atom", "red"):
        return "atomic"
    if op:
        return _MEMORY_CLASS.get((op, space), "other")
    name, *mods = opcode.split(".")
    if name in _BARRIER_OPS:
        return "barrier"
    if name in _BRANCH_OPS:
        return "branch"
    if name in _SHUFFLE_OPS:
        return "shuffle"
    if name in ("mma", "wmma", "wgmma"):
        return "mma"
    if name == "cvt":
        return "convert"
    is_float = bool(mods) and mods[-1].startswith(("f", "bf"))
    if is_float and (name == "fma" or name == "mad"):
        return "fma"
    if is_float and name in _SPECIAL_OPS:
        return "special"
    if is_float and name in _FP_OPS:
        return "fp"
    return "int" if name in _INT_OPS else "other"


def flops_per_thread(opcode):
    """Floating-point operations of one thread's execution: 2 for a fused multiply-add, 1 for add, sub and mul,
    twice that for packed types. A matrix instruction counts
    2 m n k per warp, for integers too.
    """
    name, *mods = opcode.split(".")
    if name == "mma" or opcode.startswith("wmma.mma"):
        return 2 * math.prod(shape_of(mods)) // 32
    if not mods or not mods[-1].startswith(("f", "bf")):
        return 0
    work = {"fma": 2, "mad": 2, "add": 1, "sub": 1, "mul": 1}.get(name, 0)
    return 2 * work if mods[-1].endswith("x2") else work


def flops_per_warp(opcode):
    """Of a wgmma, 2 m n k per warpgroup; 0 of everything else."""
    return 2 * math.prod(shape_of(opcode.split("."))) // 4 if opcode.startswith("wgmma.mma") else 0


@dataclass
class Site:
    """One instruction's counts (or the sum over several). ``executions`` and ``requests`` are per warp, ``threads``
    per thread, ``bytes`` as requested by active threads. Sectors are 32 bytes; wavefronts are shared-memory passes,
    ``wavefronts_ideal`` those without conflicts.
    """

    opcode: str
    file: str
    line: int
    ptx_line: int
    space: str
    op: str
    executions: int = 0
    threads: int = 0
    requests: int = 0
    sectors: int = 0
    wavefronts: int = 0
    wavefronts_ideal: int = 0
    bytes: int = 0

    @property
    def sectors_per_request(self):
        """32-byte sectors per global request: 4 is the least for 32 lanes of 4 bytes, 32 the most. 0 where there is
        no request.
        """
        return self.sectors / self.requests if self.requests and self.space != "shared" else 0.0

    @property
    def excess_wavefronts(self):
        return self.wavefronts - self.wavefronts_ideal

    @property
    def conflict_ways(self):
        """Wavefronts over ideal wavefronts: 1 is free of bank conflicts, 32 the worst. 1 where there is no shared
        access.
        """
        return self.wavefronts / self.wavefronts_ideal if self.wavefronts_ideal else 1.0

    def add(self, other):
        """Add another site's counts to this one."""
        for f in fields(self)[6:]:
            setattr(self, f.name, getattr(self, f.name) + getattr(other, f.name))


class Counters:
    """What one launch did. ``sites``: a :class:`Site` per instruction in program order."""

    def __init__(self, sites):
        self.sites = sites

    def by_line(self):
        """Sum per source line: {(file, line): Site}."""
        lines = {}
        for site in self.sites:
            key = (site.file, site.line)
            if key not in lines:
                lines[key] = Site("", site.file, site.line, site.ptx_line, site.space, site.op)
            if site.space and not lines[key].space:
                lines[key].space, lines[key].op = site.space, site.op
            lines[key].add(site)
        return lines

    def total(self, space=None, op=None):
        """Sum over the sites of one memory space and/or operation ("ld", "st", "atom", "red"); over all where both
        are None.
        """
        total = Site("", "", 0, 0, space or "", op or "")
        for site in self.sites:
            if (space is None or site.space == space) and (op is None or site.op == op):
                total.add(site)
        return total

    def mix(self):
        """Warp-level instructions per class: {"fma": n, "int": n, "ldg": n, …}; the classes add up to all executed
        instructions.
        """
        mix = {}
        for site in self.sites:
            kind = instruction_class(site.opcode, site.op, site.space)
            mix[kind] = mix.get(kind, 0) + site.executions
        return {kind: n for kind, n in sorted(mix.items(), key=lambda item: -item[1]) if n}

    @property
    def flops(self):
        """Floating-point operations: FMA counts 2; add, sub and mul 1; other instructions 0."""
        threads = sum(flops_per_thread(site.opcode) * site.threads for site in self.sites if not site.op)
        groups = sum(flops_per_warp(site.opcode) * site.executions for site in self.sites if site.op == "ld")
        return threads + groups

    def bytes(self, level):
        """Bytes requested by active threads at ``level`` "global" or "shared", loads, stores and atomics together."""
        if level not in ("global", "shared"):
            raise ValueError(f"level must be 'global' or 'shared', not {level!r}")
        return self.total(space=level).bytes

    @property
    def intensity(self):
        """FLOP per byte of global memory requested (before any cache); 0 without global traffic."""
        requested = self.bytes("global")
        return self.flops / requested if requested else 0.0

    def to_dict(self):
        """Plain data for JSON."""
        return {
            "sites": [vars(site).copy() for site in self.sites],
            "mix": self.mix(),
            "flops": self.flops,
            "intensity": self.intensity,
        }

    def __str__(self):
        loads, stores = self.total("global", "ld"), self.total("global", "st")
        shared = self.total("shared")
        requested = self.bytes("global")
        lines = [
            f"{self.flops:,} FLOP, {requested:,} bytes requested from global memory, {self.intensity:.3g} FLOP/byte"
        ]
        for label, site in (("global loads", loads), ("global stores", stores)):
            if site.requests:
                per_request = f"{site.sectors_per_request:.2f} per request"
                lines.append(f"{label}: {site.requests:,} requests, {site.sectors:,} sectors, {per_request}")
        if shared.requests:
            waves = f"{shared.wavefronts:,} wavefronts, {shared.excess_wavefronts:,} in excess"
            lines.append(f"shared: {shared.requests:,} requests, {waves}")
        lines.append("instructions: " + ", ".join(f"{kind} {n:,}" for kind, n in self.mix().items()))
        return "\n".join(lines)
