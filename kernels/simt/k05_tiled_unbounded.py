"""Chapter 05, a study: k05_tiled without launch bounds.

Change: ptxas may take the registers that it likes: 39 for 31; nothing else.
Limit:  1,024 threads at 40 registers leave room for one block on an SM, and all of its warps wait at a barrier.
Needs:  as k05_tiled.
"""

from types import FunctionType

from numba import cuda

from kernels.simt.k05_tiled import tiled

# region: kernel
_python = tiled.py_func
unbounded = cuda.jit(FunctionType(_python.__code__, _python.__globals__, "unbounded"))
# endregion
