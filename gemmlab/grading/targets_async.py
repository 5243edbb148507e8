"""What an exercise demands of asynchronous copies and multiplications: instructions to keep, work that overlaps."""

import re
from dataclasses import dataclass
from typing import ClassVar

from gemmlab.count import trace_events
from gemmlab.errors import CheckError
from gemmlab.grading.targets import Target


@dataclass(frozen=True)
class Keeps(Target):
    """The PTX holds an instruction that matches `pattern` (a regular expression, from the mnemonic on).

    `otherwise` says what is lost without it, in the learner's terms.
    """

    pattern: str
    otherwise: str

    def require(self, counted):
        if not re.search(rf"^\s*(?:@!?%\w+\s+)?{self.pattern}", counted.compiled.ptx, re.MULTILINE):
            raise CheckError(self.otherwise)


@dataclass(frozen=True)
class NoRemarks(Target):
    """The assembler has nothing to say: no wgmma serialised, no wait injected (C75xx). It mends such faults in silence
    where it can, so right values do not show them.
    """

    def require(self, counted):
        for remark in counted.compiled.assembly.remarks:
            raise CheckError(f"the assembler had to help: {remark}")


@dataclass(frozen=True)
class UnderWay(Target):
    """A warp's group of wgmma is under way while the warp waits at an mbarrier for the next tile."""

    reached: ClassVar[str] = "multiplying while the next tile is awaited"

    def require(self, counted):
        running: dict[int, tuple] = {}
        for event in trace_events(counted.compiled, *counted.shape):
            if event.kind == "multiply":
                running[event.number] = event.warps
            elif event.kind == "multiplied":
                running.pop(event.number, None)
            elif event.kind == "pass" and any(set(event.warps) & set(warps) for warps in running.values()):
                return
        raise CheckError(
            "no wait lets a group go on: the tensor cores stand still while the next tile is awaited; use "
            "wgmma_wait_group<1>, or wait for the group only after the next tile has come"
        )
