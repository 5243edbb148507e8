"""How many blocks of a kernel an SM can hold: the arithmetic of its limits.

Sources: CUDA C++ Programming Guide, "Compute Capabilities" (limits per SM); the allocation units of registers (256 per
warp, warps in groups of four) and shared memory (128 bytes from compute capability 8.0 on, 256 before, plus 1 KB per
block that the system takes) are those of NVIDIA's occupancy calculator.
"""

from __future__ import annotations

from dataclasses import dataclass

import ptxemu
from gemmlab.compile import compile_kernel
from gemmlab.errors import GemmlabError
from gemmlab.rules import dynamic_shared
from ptxemu.profile import DeviceProfile

WARP = 32
REGISTER_UNIT, WARP_UNIT = 256, 4


@dataclass(frozen=True)
class Occupancy:
    """Blocks and warps that one SM holds at once; `limits` gives the blocks that each resource alone would allow."""

    blocks: int
    warps: int
    max_warps: int
    limits: dict[str, int]

    @property
    def share(self) -> float:
        """Resident warps as a share of the most that the SM can hold."""
        return self.warps / self.max_warps

    @property
    def limited_by(self) -> str:
        """The resources that are used up first."""
        return ", ".join(name for name, blocks in self.limits.items() if blocks == self.blocks)

    def __str__(self) -> str:
        blocks = f"{self.blocks} block{'s' * (self.blocks != 1)}"
        return f"{blocks}, {self.warps} of {self.max_warps} warps ({self.share:.0%}), limited by {self.limited_by}"

    __repr__ = __str__


def occupancy(threads: int, registers: int, shared: int = 0, on: DeviceProfile = ptxemu.H200) -> Occupancy:
    """Return what one SM of `on` holds: blocks of `threads`, `registers` per thread, `shared` bytes per block.

    Raises GemmlabError for a block that the device cannot run at all.
    """
    for name, value, low, high in (("threads", threads, 1, 1024), ("registers", registers, 1, 255)):
        if not isinstance(value, int) or not low <= value <= high:
            raise GemmlabError(f"{name} = {value!r}: give an integer from {low} to {high}")
    if not 0 <= shared <= on.shared_per_block_optin:
        raise GemmlabError(f"shared = {shared!r}: a block on {on.name} has at most {on.shared_per_block_optin} bytes")
    warps = -(-threads // WARP)
    unit, reserved = (128, 1024) if on.cc >= (8, 0) else (256, 0)
    per_warp = -(-registers * WARP // REGISTER_UNIT) * REGISTER_UNIT
    by_registers = on.registers_per_sm // per_warp // WARP_UNIT * WARP_UNIT
    limits = {
        "registers": by_registers // warps,
        "threads": on.max_threads_per_sm // (warps * WARP),
        "blocks": on.max_blocks_per_sm,
    }
    taken = -(-shared // unit) * unit + reserved
    if shared:
        limits["shared memory"] = on.shared_per_sm // taken
    blocks = min(limits.values())
    if blocks == 0:
        raise GemmlabError(f"{threads} threads with {registers} registers each do not fit: an SM has "
                           f"{on.registers_per_sm} registers")
    return Occupancy(blocks, blocks * warps, on.max_threads_per_sm // WARP, limits)


def occupancy_of(kernel, on: DeviceProfile = ptxemu.H200) -> Occupancy:
    """Return the occupancy of a kernel of the ladder, from what the assembler says about it."""
    compiled = compile_kernel(kernel)
    if compiled.spec is None or compiled.registers is None:
        raise GemmlabError("occupancy_of takes a kernel of the ladder and needs an assembler (ptxas)")
    x, y, z = compiled.spec.block
    return occupancy(x * y * z, compiled.registers, compiled.static_shared + dynamic_shared(compiled.spec.rule()), on)
