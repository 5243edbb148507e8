"""What an exercise demands of single loads and stores: how many words feed a multiply-add, how wide an access is."""

from dataclasses import dataclass

from gemmlab.errors import CheckError
from gemmlab.grading.targets import Target


@dataclass(frozen=True)
class SharedWords(Target):
    """At most `limit` 4-byte words read from shared memory per multiply-add."""

    limit: float

    @property
    def reached(self) -> str:
        return f"≤ {self.limit:g} shared words per multiply-add"

    def require(self, counted):
        counters = counted.report.counters
        words, fmas = counters.total(space="shared", op="ld").bytes / 4, counters.flops / 2
        if not words:
            raise CheckError("the kernel reads nothing from shared memory: multiply out of the tiles")
        if not fmas or words / fmas > self.limit:
            raise CheckError(
                f"a multiply-add reads {words / max(1, fmas):.3g} words of shared memory, the target is "
                f"{self.limit:g}: read each value once per step of k, then use it for the whole patch"
            )


@dataclass(frozen=True)
class SharedWavefronts(Target):
    """At most `limit` wavefronts for loads of shared memory per warp-wide multiply-add."""

    limit: float

    @property
    def reached(self) -> str:
        return f"≤ {self.limit:g} wavefronts per multiply-add"

    def require(self, counted):
        counters = counted.report.counters
        wavefronts, fmas = counters.total(space="shared", op="ld").wavefronts, counters.mix().get("fma", 0)
        if not wavefronts:
            raise CheckError("the kernel reads nothing from shared memory: multiply out of the tiles")
        if not fmas or wavefronts / fmas > self.limit:
            raise CheckError(
                f"the shared loads take {wavefronts / max(1, fmas):.3g} wavefronts per multiply-add, the "
                f"target is {self.limit:g}: which lanes want the same address?"
            )


@dataclass(frozen=True)
class Wide(Target):
    """Every load and store of `arrays` in global memory moves `width` bytes per lane, at the probe's shape."""

    arrays: tuple[str, ...]
    width: int = 16

    @property
    def reached(self) -> str:
        return f"{8 * self.width}-bit access to {' and '.join(self.arrays)}"

    def require(self, counted):
        for name in self.arrays:
            found = [access for access in counted.report.trace if access.space == "global" and access.name == name]
            if not found:
                raise CheckError(f"the kernel never touches {name} in global memory")
            narrow = min(found, key=lambda access: access.width)
            if narrow.width < self.width:
                what = "read" if narrow.kind == "ld" else "stored"
                raise CheckError(
                    f"line {narrow.site.line}: {name} is {what} {narrow.width} bytes per lane at a time, "
                    f"the target is {self.width}"
                )
