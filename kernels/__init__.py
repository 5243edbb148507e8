"""The ladder itself: one Spec per kernel, in the order of the climb.

Numba kernels are Python modules; CUDA C++ kernels are `.cu` files that include headers from this folder.
"""

from kernels.simt.specs import SPECS as SIMT
from kernels.spec import ROOT, Spec

__all__ = ["LADDER", "ROOT", "Spec", "spec"]

LADDER = (
    Spec(
        name="k03_naive",
        chapter="03",
        title="Naive: one thread per element of C, a warp down a column",
        language="numba",
        file="simt/k03_naive.py",
        entry="naive",
        change="the first rung",
        block=(32, 8, 1),
        grid=("cdiv(M,32)", "cdiv(N,8)", "1"),
        rung=1,
    ),
    Spec(
        name="k03_naive_cuda",
        chapter="03",
        title="Naive in CUDA C++",
        language="cuda",
        file="simt/k03_naive_cuda.cu",
        entry="naive",
        change="the same kernel, compiled by NVRTC",
        block=(32, 8, 1),
        grid=("cdiv(M,32)", "cdiv(N,8)", "1"),
        args=("A", "B", "C", "M", "N", "K"),
        prev="k03_naive",
    ),
    Spec(
        name="k04_coalesced",
        chapter="04",
        title="Coalesced: a warp along a row of C",
        language="numba",
        file="simt/k04_coalesced.py",
        entry="coalesced",
        change="the row and column index change places",
        block=(32, 8, 1),
        grid=("cdiv(N,32)", "cdiv(M,8)", "1"),
        rung=2,
        prev="k03_naive",
    ),
    Spec(
        name="k03_naive_16x16",
        chapter="03",
        title="Study: naive with a square block",
        language="numba",
        file="simt/k03_naive.py",
        entry="naive",
        change="a warp covers 16 rows and 2 columns of C",
        block=(16, 16, 1),
        grid=("cdiv(M,16)", "cdiv(N,16)", "1"),
        prev="k03_naive",
    ),
    Spec(
        name="k04_coalesced_16x16",
        chapter="04",
        title="Study: coalesced with a square block",
        language="numba",
        file="simt/k04_coalesced.py",
        entry="coalesced",
        change="a warp covers 2 rows and 16 columns of C",
        block=(16, 16, 1),
        grid=("cdiv(N,16)", "cdiv(M,16)", "1"),
        prev="k04_coalesced",
    ),
    *SIMT,
)


def spec(name: str) -> Spec:
    """Return the Spec called `name`. Raises KeyError with one line that lists the names."""
    for entry in LADDER:
        if entry.name == name:
            return entry
    raise KeyError(f"no kernel {name!r}; the ladder has {', '.join(entry.name for entry in LADDER)}")
