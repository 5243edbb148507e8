"""Chapter 01: the latency of memory, by a chain of loads of which each needs the result of the one before.

Change: none, a measuring kernel. A ring holds in each 128-byte line the address of the line to visit next.
Limit:  one load under way, ever: the time is latency and nothing else.
Needs:  any GPU. `ring` holds uint64, its size a multiple of 16; `following[i]` is the number of the line after line i.
"""

from numba import cuda, uint32, uint64

from kernels.simt.probes import clock64, follow, follow_shared, global_address, shared_address

LINE = 16  # uint64 in a 128-byte cache line
SHARED_LINES = 64
SHARED_SIZE = SHARED_LINES * LINE


@cuda.jit
def link(ring, following):
    """Write the address of line following[i] into line i."""
    i = cuda.grid(1)
    if i < following.size:
        ring[i * LINE] = global_address(ring, uint64(following[i]) * uint64(LINE))


# region: kernel
@cuda.jit
def chase(ring, start, warm, steps, out):
    address = global_address(ring, start)
    for _ in range(warm):  # the first visits fill the caches
        address = follow(address)
    begin = clock64()
    for _ in range(steps):
        address = follow(address)
    line = (address - global_address(ring, uint32(0))) // uint64(8 * LINE)
    out[1] = line  # NOTE: needs the last load, so the clock cannot be read before it
    out[0] = clock64() - begin
# endregion


# region: shared
@cuda.jit
def chase_shared(steps, out):
    ring = cuda.shared.array(SHARED_SIZE, uint64)
    for i in range(SHARED_LINES):
        ring[i * LINE] = shared_address(ring, uint32((i + 1) % SHARED_LINES * LINE))
    address = shared_address(ring, uint32(0))
    begin = clock64()
    for _ in range(steps):
        address = follow_shared(address)
    out[1] = (address - shared_address(ring, uint32(0))) // uint64(8 * LINE)
    out[0] = clock64() - begin
# endregion
