"""Chapter 07, study: the warp tile, forced into 64 registers per thread.

Change: launch bounds promise four resident blocks per SM; nothing else.
Limit:  65,536 registers / (4 * 256 threads) leave 64, as many as the sums alone; the rest lives in local memory.
Needs:  as k07_warp_tile.
"""

from types import FunctionType

from numba import cuda

from kernels.simt.k07_warp_tile import warp_tile

# region: kernel
_python = warp_tile.py_func
spilled = cuda.jit(launch_bounds=(256, 4))(FunctionType(_python.__code__, _python.__globals__, "spilled"))
# endregion
