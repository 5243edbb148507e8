"""A compiled kernel: PTX, machine code, what the assembler said about it, and where its lines come from."""

import re
from dataclasses import dataclass, field
from functools import cached_property

from gemmlab.assemble import Assembly, assemble, disassemble
from gemmlab.errors import GemmlabError
from gemmlab.lint import Lint
from kernels import Spec

_TARGET = "sm_90"  # the emulator executes any target; one default gives everyone the same counters
_TARGET = re.compile(r"sm_(\d+)(\d)([af]?)")
_ENTRY = re.compile(r"\.visible\s+\.entry\s+([\w$]+)\s*\(([^)]*)\)")
_PARAM = re.compile(r"\.param\s+(?:\.align\s+(\d+)\s+)?\.(\w+)(?:\s+\.ptr[^,]*?)?\s+[\w$]+(?:\[(\d+)\])?\s*$")


@dataclass(frozen=True)
class Param:
    """One kernel parameter: PTX type ("u64", "f32", "b8" for a struct) and size in bytes."""

    dtype: str
    size: int


@dataclass
class Compiled:
    """A kernel compiled for one target.

    `ptx` is what the emulator executes and what the machine code is assembled from. `sources` maps the file names that
    appear in it to their text. `compiler` names the compiler and its version. `spec` is None for a kernel outside the
    ladder.
    """

    ptx: str
    entry: str
    language: str
    target: str
    compiler: str
    sha256: str
    sources: dict[str, str] = field(default_factory=dict, repr=False)
    spec: Spec | None = None
    arg_names: tuple[str, ...] = ()
    max_registers: int | None = None
    built: Assembly | None = field(default=None, repr=False)
    lints: tuple[Lint, ...] = ()

    @property
    def title(self) -> str:
        """What messages call the kernel: its Spec's name, as several may be one source with other macros."""
        return self.spec.name if self.spec else self.entry

    @cached_property
    def assembly(self) -> Assembly:
        """Machine code and the assembler's report; made on first use."""
        return self.built or assemble(self.ptx, self.entry, self.target, self.max_registers)

    @property
    def cubin(self) -> bytes | None:
        return self.assembly.cubin

    @property
    def registers(self) -> int | None:
        """Registers per thread, as the assembler reports them; None without an assembler."""
        return self.assembly.registers

    @property
    def spill_bytes(self) -> int | None:
        """Bytes of spill stores and loads in the code of one thread."""
        return self.assembly.spill_bytes

    @property
    def static_shared(self) -> int | None:
        """Static shared memory of one CTA, bytes."""
        return self.assembly.static_shared

    @property
    def messages(self) -> tuple[str, ...]:
        """What `ptxas -v` prints."""
        return self.assembly.messages

    @cached_property
    def params(self) -> tuple[Param, ...]:
        """The kernel's parameters in order."""
        return entries(self.ptx)[self.entry]

    def sass(self) -> str:
        """Return the machine code as text. Raises GemmlabError when nvdisasm or the assembler is missing."""
        return disassemble(self.cubin)

    def source_line(self, file: str, line: int) -> str:
        """Return one line of the kernel's source, "" if unknown."""
        lines = self.sources.get(file, "").splitlines()
        return lines[line - 1] if 0 < line <= len(lines) else ""


def entries(ptx: str) -> dict[str, tuple[Param, ...]]:
    """Return the kernels of a PTX text with their parameters."""
    return {name: tuple(map(_param, filter(str.strip, body.split(",")))) for name, body in _ENTRY.findall(ptx)}


def _param(text: str) -> Param:
    match = _PARAM.search(text.strip())
    if match is None:
        raise GemmlabError(f"cannot read the PTX parameter {text.strip()!r}")
    _, dtype, count = match.groups()
    return Param(dtype, int(dtype[1:]) // 8 * int(count or 1))


def parse_target(target: str) -> tuple[tuple[int, int], str]:
    """Split "sm_90a" into ((9, 0), "a"). Raises GemmlabError."""
    match = _TARGET.fullmatch(target) if isinstance(target, str) else None
    if match is None:
        raise GemmlabError(f"target {target!r} is not of the form 'sm_90' or 'sm_90a'")
    return (int(match[1]), int(match[2])), match[3]


def from_ptx(ptx: str, language: str, entry: str | None = None) -> Compiled:
    """Make a Compiled from PTX text: `language` "numba" or "cuda" says how arrays are passed. Raises GemmlabError."""
    found = entries(ptx)
    if not found:
        raise GemmlabError("the PTX text has no kernel (.visible .entry)")
    if entry is None and len(found) > 1:
        raise GemmlabError(f"the PTX text has several kernels, name one: {', '.join(found)}")
    entry = entry or next(iter(found))
    if entry not in found:
        raise GemmlabError(f"the PTX text has no kernel {entry!r}, only {', '.join(found)}")
    target = re.search(r"^\.target\s+(sm_\w+)", ptx, re.MULTILINE)
    if target is None:
        raise GemmlabError("the PTX text has no .target line")
    return Compiled(ptx, entry, language, target[1], "PTX text", "")
