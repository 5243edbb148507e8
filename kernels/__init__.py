"""The ladder itself: one Spec per kernel, in the order of the climb.

Numba kernels are Python modules; CUDA C++ kernels are `.cu` files that include headers from this folder.
"""

import difflib

from kernels.hopper.specs import SPECS as HOPPER
from kernels.simt.specs import SPECS as SIMT
from kernels.spec import ROOT, Spec
from kernels.tensor.specs import SPECS as TENSOR

__all__ = ["LADDER", "ROOT", "RUNGS", "Spec", "spec"]

LADDER = (*SIMT, *TENSOR, *HOPPER)
RUNGS = tuple(sorted((entry for entry in LADDER if entry.rung is not None), key=lambda entry: entry.rung))


def spec(name: str) -> Spec:
    """Return the Spec called `name`. Raises KeyError with one line: the names that are alike, or all."""
    for entry in LADDER:
        if entry.name == name:
            return entry
    names = [entry.name for entry in LADDER]
    alike = difflib.get_close_matches(name.lower(), names, cutoff=0.8)
    hint = f"did you mean {' or '.join(alike)}?" if alike else f"the ladder has {', '.join(names)}"
    raise KeyError(f"no kernel {name!r}; {hint}")
