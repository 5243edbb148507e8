"""PTX modules and their entries."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass

from .errors import PtxError
from .memory import module_image, place_module
from .parse import parse
from .program import Program
from .unit import Unit

BATCH_LANES = 8192  # lanes that run together where CTAs do not wait for each other


@dataclass(frozen=True)
class Param:
    """A kernel parameter: PTX name, type ("u64", "f32", "b8" for structs), bytes and alignment."""

    name: str
    dtype: str
    size: int
    align: int


class Module:
    """A parsed PTX module: ``target``, ``version``, ``entries`` (names). Module variables keep their values between
    launches.
    """

    def __init__(self, text):
        self.ir = parse(text)
        self.target, self.version = self.ir.target, self.ir.version
        self.entries = [name for name, f in self.ir.functions.items() if f.is_entry and f.body is not None]
        self.addresses, self.placed, self.param_address = place_module(self.ir)
        self.image = module_image(self.ir, self.addresses)
        self._cache = {}

    def entry(self, name=None):
        """The entry ``name`` (default: the only one). Raises PtxError for an unknown name or an unsupported
        instruction.
        """
        if name is None:
            if len(self.entries) != 1:
                raise PtxError(
                    f"the module has {len(self.entries)} entries ({', '.join(self.entries) or 'none'}): "
                    "name the one to run"
                )
            name = self.entries[0]
        if name not in self.entries:
            raise PtxError(
                f"no entry {name!r} in this module; its entries are {', '.join(self.entries) or 'none'} "
                '(a C++ kernel keeps its name with extern "C")'
            )
        if name not in self._cache:
            self._cache[name] = Entry(self, name)
        return self._cache[name]


class Entry:
    """A kernel: ``name``, ``params``, ``maxntid`` (or None), ``static_shared`` bytes, ``files``, ``sites`` (one per
    instruction).
    """

    def __init__(self, module, name):
        self.module, self.name = module, name
        function = module.ir.functions[name]
        self.program = Program(module.ir, function)
        self.params = [Param(v.name, v.type, v.size, v.align) for v in function.params]
        self.maxntid = function.directives.get("maxntid") or function.directives.get("reqntid") or None
        self.directives = function.directives
        self.static_shared = self.program.static_shared
        self.shared_layout = tuple((v, at, size) for v, at, size in self.program.shared_layout())
        self.files = dict(module.ir.files)
        self.constants = {v.name for v in module.ir.variables.values() if v.space == "const"}
        self.sites = self.program.sites
        self.segments = self.program.segments
        self.spins = _may_wait(self.program)
        self._units = {}
        self.unit(BATCH_LANES, False)

    def unit(self, capacity, observe):
        """The compiled form for a capacity, made once."""
        key = capacity, observe
        if key not in self._units:
            self._units[key] = Unit(self.program, capacity, observe, self.module.addresses, self.module.param_address)
        return self._units[key]


def _may_wait(program):
    """Whether the kernel can wait for another CTA: a strong access to memory inside a loop."""
    for segment in program.segments:
        if not segment.waits:
            continue
        seen, work = set(), program.successors(segment)
        while work:
            at = work.pop()
            if at == segment.index:
                return True
            if at not in seen:
                seen.add(at)
                work.extend(program.successors(program.segments[at]))
    return False


@functools.lru_cache(maxsize=64)
def _loaded(digest, text):
    return Module(text)


def load(ptx_text):
    """Read PTX text (str or bytes). Raises PtxError with one line that names the PTX line.

    Equal texts give the same Module, so its variables persist as they do in a context on a GPU.
    """
    if isinstance(ptx_text, bytes):
        ptx_text = ptx_text.decode("utf-8", "replace")
    ptx_text = ptx_text.rstrip("\0 \n")
    return _loaded(hashlib.sha256(ptx_text.encode()).hexdigest(), ptx_text)
