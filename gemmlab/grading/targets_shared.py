"""What an exercise demands of a kernel's tiles: bytes requested, shared memory taken, no bank conflict."""

from dataclasses import dataclass
from typing import ClassVar

import ptxemu
from gemmlab.errors import CheckError
from gemmlab.grading.targets import Target

FLOAT = 4  # bytes


@dataclass(frozen=True)
class TileTraffic(Target):
    """The loads of A and B request what tiles of BM × BN outputs need: each element, of `itemsize` bytes, once.

    `cure` says what to do where they request more.
    """

    BM: int
    BN: int
    itemsize: int = FLOAT
    cure: str = "copy each element once per block, and read it from shared memory after that"

    @property
    def reached(self) -> str:
        return f"{self.BM} × {self.BN} outputs per element requested once"

    def require(self, counted):
        M, N, K = counted.shape
        least = self.itemsize * (M * K * -(-N // self.BN) + K * N * -(-M // self.BM))
        asked = counted.report.counters.total(space="global", op="ld").bytes
        if asked > least:
            raise CheckError(
                f"at {M}×{N}×{K} the loads request {asked:,} bytes, {asked / least:.3g} times what {self.BM} × "
                f"{self.BN} tiles need: {self.cure}"
            )


@dataclass(frozen=True)
class SharedBytes(Target):
    """At most `limit` bytes of static shared memory."""

    limit: int

    def require(self, counted):
        taken = ptxemu.load(counted.compiled.ptx).entry(counted.compiled.entry).static_shared
        if taken > self.limit:
            raise CheckError(f"the block takes {taken:,} bytes of shared memory; {self.limit:,} are enough")


@dataclass(frozen=True)
class NoConflicts(Target):
    """Shared memory is read, and no request takes more wavefronts than its width needs."""

    reached: ClassVar[str] = "no bank conflict"

    def require(self, counted):
        sites = [site for site in counted.report.counters.sites if site.space == "shared" and site.requests]
        if not any(site.op == "ld" for site in sites):
            raise CheckError("the kernel never reads shared memory")
        worst = max(sites, key=lambda site: site.excess_wavefronts)
        if worst.excess_wavefronts:
            what = {"ld": "loads", "st": "stores"}.get(worst.op, "accesses")
            where = f"line {worst.line}: " if worst.line else ""
            raise CheckError(
                f"{where}{worst.conflict_ways:.3g}-way bank conflict: the {what} take {worst.wavefronts:,} wavefronts "
                f"where {worst.wavefronts_ideal:,} would do. Which banks do the lanes of a warp hit?"
            )
