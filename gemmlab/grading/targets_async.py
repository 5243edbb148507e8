"""What an exercise demands of a kernel with asynchronous copies and multiplications: instructions that it must keep."""

import re
from dataclasses import dataclass

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
