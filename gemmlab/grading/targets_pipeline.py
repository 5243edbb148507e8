"""What an exercise demands of a software pipeline: early loads, one barrier per tile, copies that outlast a wait."""

from dataclasses import dataclass

from gemmlab import stages
from gemmlab.count import trace, trace_events
from gemmlab.errors import CheckError, GemmlabError
from gemmlab.grading.targets import WARP, Target


@dataclass(frozen=True)
class Overlap(Target):
    """At least `least` shared loads of a warp are issued while a tile's global loads are on their way."""

    least: float

    @property
    def reached(self) -> str:
        return f"≥ {self.least:g} shared loads beside each tile's loads"

    def require(self, counted):
        try:
            seen = stages.overlap(trace(counted.compiled, *counted.shape))
        except GemmlabError:
            raise CheckError("the kernel loads only one tile: walk along K in tiles of BK") from None
        if not seen >= self.least:
            raise CheckError(
                f"{seen:.3g} of a warp's shared loads are issued between a tile's global loads and the "
                f"store that uses them, the target is {self.least:g}: load before the multiply, store "
                "after it"
            )


@dataclass(frozen=True)
class Barriers(Target):
    """At most `per_tile` block-wide barriers per tile of `BK`, and `extra` besides."""

    BK: int
    per_tile: int = 1
    extra: int = 1

    @property
    def reached(self) -> str:
        return f"{self.per_tile} barrier{'s' * (self.per_tile > 1)} per tile"

    def require(self, counted):
        M, N, K = counted.shape
        spec = counted.compiled.spec
        grid, block, _ = spec.launch_dims(M, N, K)
        warps = -(-block[0] * block[1] * block[2] // WARP) * grid[0] * grid[1] * grid[2]
        executed = (
            sum(
                site.executions
                for site in counted.report.counters.sites
                if site.opcode.startswith(("bar.sync", "barrier.sync"))
            )
            / warps
        )
        tiles = -(-K // self.BK)
        if executed > self.per_tile * tiles + self.extra:
            raise CheckError(
                f"{executed:.3g} barriers for {tiles} tiles, the target is {self.per_tile} per tile: one can say both "
                "that a tile has come and that the buffer before is free"
            )


@dataclass(frozen=True)
class Copies(Target):
    """A and B reach shared memory by cp.async alone."""

    reached = "cp.async only"

    def require(self, counted):
        sites = [s for s in counted.report.counters.sites if s.space == "global" and s.op == "ld" and s.requests]
        if any(not site.opcode.startswith("cp.async") for site in sites):
            raise CheckError("A or B is read by an ordinary load: keep the copies (cp.async)")
        if not sites:
            raise CheckError("nothing is copied from global memory")


@dataclass(frozen=True)
class GroupsKept(Target):
    """At every wait but the last ones the copies of `least` tiles may go on."""

    least: int

    @property
    def reached(self) -> str:
        return f"{self.least} tile{'s' * (self.least > 1)} under way across each wait"

    def require(self, counted):
        try:
            events = trace_events(counted.compiled, *counted.shape)
        except GemmlabError:
            raise CheckError("nothing is copied by cp.async") from None
        groups, bytes_now, kept = [], 0, []
        for event in events:
            if event.what != "cp.async" or 0 not in event.warps:
                continue
            if event.kind == "issue":
                bytes_now += event.nbytes
            elif event.kind == "commit":
                groups.append(bytes_now)
                bytes_now = 0
            elif event.kind == "wait_group":
                newest = groups[len(groups) - event.number :] if event.number else []
                kept.append(sum(1 for nbytes in newest if nbytes))
        most = max(kept, default=0)
        if most < self.least:
            raise CheckError(
                f"after a wait at most {most} group{'s' * (most != 1)} may be open, the target is {self.least}: how "
                "many tiles are under way, and which of them is needed now?"
            )
