"""Static figures of the book. Each takes plain data (traces, counters, records) and returns a figure with `.alt`.

    roofline(points, gpu="H200", dtype="float32")   where kernels sit under the roof
    llm_layers(gpu="H200", dtype="bfloat16")        where the GEMMs of a language model sit
    sector_map(trace)                               warp request -> 32-byte sectors, from the real addresses
    bank_grid(trace)                                lane -> bank grid, wavefront by wavefront
    reads_per_element(trace, "A", (M, K))           how often each element is read
    instruction_mix(counters)                       warp instructions by class
    source_lines(counters)                          bytes moved and used, by source line
    ladder_bars(records)                            measured kernels beside cuBLAS
    thread_map(block=(32, 8))                       thread -> warp -> element of a 2-D block

A list may be replaced by {variant title: list} in sector_map, bank_grid and instruction_mix to compare variants.
"""

from . import palette
from .bank_grid import bank_grid
from .layers import llm_layers
from .roof import roofline
from .sector_map import sector_map

__all__ = ["bank_grid", "llm_layers", "palette", "roofline", "sector_map"]
