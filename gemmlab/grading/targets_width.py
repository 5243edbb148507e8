"""What an exercise demands of single loads and stores: how many words feed a multiply-add, how wide an access is."""

from dataclasses import dataclass
from typing import ClassVar

from gemmlab.errors import CheckError
from gemmlab.grading.targets import Target


@dataclass(frozen=True)
class PerMultiplyAdd(Target):
    """The loads of shared memory take at most `limit` of something per multiply-add."""

    limit: float
    what: ClassVar[str]
    cure: ClassVar[str]

    @property
    def reached(self) -> str:
        return f"≤ {self.limit:g} {self.what} per multiply-add"

    def taken(self, counters) -> tuple[float, float]:
        """Return how much the loads took, and the multiply-adds."""
        raise NotImplementedError

    def require(self, counted):
        taken, fmas = self.taken(counted.report.counters)
        if not taken:
            raise CheckError("the kernel reads nothing from shared memory: multiply out of the tiles")
        if not fmas or taken / fmas > self.limit:
            found = f"{taken / max(1, fmas):.3g} {self.what}"
            raise CheckError(f"a multiply-add reads {found}, the target is {self.limit:g}: {self.cure}")


class SharedWords(PerMultiplyAdd):
    """Words of 4 bytes, per multiply-add of a thread."""

    what = "shared words"
    cure = "read each value once per step of k, then use it for the whole patch"

    def taken(self, counters):
        return counters.total(space="shared", op="ld").bytes / 4, counters.flops / 2


class SharedWavefronts(PerMultiplyAdd):
    """Wavefronts, per multiply-add of a warp."""

    what = "wavefronts"
    cure = "which lanes want the same address?"

    def taken(self, counters):
        return counters.total(space="shared", op="ld").wavefronts, counters.mix().get("fma", 0)


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
