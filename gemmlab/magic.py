"""The cell magic ``%%cuda``: a CUDA C++ kernel as a cell of its own, readable and editable.

    %load_ext gemmlab.magic

    %%cuda naive --entry naive BM=16
    extern "C" __global__ void naive(…) { … }

defines the Python variable `naive`, a ``gemmlab.CudaSource``. Without ``--entry`` the kernel's name is the variable's
name if the text defines such a kernel, else that of its only ``__global__`` function.
"""

import re

from gemmlab.errors import GemmlabError

USAGE = "write %%cuda NAME [--entry KERNEL] [MACRO=value …] above the CUDA C++ code"
_ATTRIBUTES = r"(?:__\w+__\s*(?:\([^)]*\))?\s*)*"
_KERNEL = re.compile(rf"__global__\s+{_ATTRIBUTES}void\s+{_ATTRIBUTES}(\w+)\s*\(")


def parse(line: str, text: str) -> tuple[str, str, dict[str, str]]:
    """Return (variable name, entry, macro definitions) of a ``%%cuda`` line over the source `text`.

    Raises GemmlabError, one line, for a missing name, an unknown option or an entry that the text does not define.
    """
    words = line.split()
    entry = None
    if "--entry" in words:
        at = words.index("--entry")
        if at + 1 == len(words):
            raise GemmlabError(f"%%cuda: --entry needs a kernel name; {USAGE}")
        entry = words[at + 1]
        del words[at : at + 2]
    if not words or not words[0].isidentifier():
        raise GemmlabError(f"%%cuda: the first word must be a Python variable name; {USAGE}")
    name, defines = words[0], {}
    for word in words[1:]:
        macro, equals, value = word.partition("=")
        if not equals or not macro.isidentifier():
            raise GemmlabError(f"%%cuda: cannot read {word!r}; {USAGE}")
        defines[macro] = value
    return name, _entry(entry, name, text), defines


def _entry(entry: str | None, name: str, text: str) -> str:
    found = list(dict.fromkeys(_KERNEL.findall(text)))
    if not found:
        raise GemmlabError(
            '%%cuda: the cell defines no __global__ void function; a kernel starts with extern "C" __global__ void'
        )
    chosen = entry or (name if name in found else found[0] if len(found) == 1 else None)
    if chosen is None:
        raise GemmlabError(f"%%cuda: the cell defines {', '.join(found)}; say which with --entry")
    if chosen not in found:
        raise GemmlabError(f"%%cuda: the cell defines no kernel {chosen!r}, only {', '.join(found)}")
    return chosen


def cuda(line: str, cell: str, namespace: dict) -> None:
    """Run the magic: put ``gemmlab.cuda_source(cell, entry, **defines)`` into `namespace` under its name.

    The text begins with an empty line in place of the ``%%cuda`` line: messages count lines as the notebook shows them.
    """
    from gemmlab import cuda_source

    name, entry, defines = parse(line, cell)
    namespace[name] = cuda_source("\n" + cell, entry, **defines)


def load_ipython_extension(shell) -> None:
    """Register ``%%cuda`` with IPython (called by ``%load_ext gemmlab.magic``)."""

    def magic(line: str, cell: str) -> None:
        cuda(line, cell, shell.user_ns)

    shell.register_magic_function(magic, "cell", "cuda")
