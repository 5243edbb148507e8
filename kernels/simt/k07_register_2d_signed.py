"""Chapter 07, study: the 8 x 8 patch with Python's own integers as indices.

Change: every uint32 of k07_register_2d becomes int, which Numba compiles to a signed 64-bit integer; nothing else.
Limit:  a signed index may be negative and then counts from the end, so each access tests for that.
Needs:  as k07_register_2d.
"""

from types import FunctionType

from numba import cuda

from kernels.simt.k07_register_2d import register_2d

# region: kernel
_python = register_2d.py_func
signed = cuda.jit(FunctionType(_python.__code__, {**_python.__globals__, "uint32": int}, "signed"))
# endregion
