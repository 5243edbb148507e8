"""Interactive figures: HTML that works in Jupyter, Colab and the book, with ipywidgets where Python must recompute.

    roofline_explorer()                          GPU, data type, M, N, K under the roof
    sector_explorer(naive=k1, coalesced=k2)      warp -> sectors, step by step, side by side
    bank_explorer()                              padding and XOR swizzles on 32 banks
    bank_explorer(tiled=kernel)                  the same picture from a kernel's own addresses
    tile_explorer()                              tiles of A and B along K: bytes, threads, shared memory
    patch_explorer()                             a thread's patch of C: reads, multiply-adds, registers
    occupancy_explorer()                         registers, shared memory, threads -> blocks per SM
    stage_explorer()                             load, multiply, buffers: what is hidden, what is not
    timeline(...), fragment_map(...)             roles over time; lane <-> element <-> register
    fragments("mma.m16n8k16.bf16")               the same of a matrix instruction
    swizzle_explorer(), tensor_map_explorer()    where TMA puts a box; what it copies, fills and refuses
    descriptor(word)                             a wgmma descriptor: fields, and the chunks that it reads
    cluster_explorer()                           CTAs of a cluster: what they share, bytes that multicast saves
    phases(events), roles(events)                mbarriers step by step; producers, stages, consumers
"""

from gemmlab.widgets.explorers import (
    Explorer,
    bank_explorer,
    fragment_map,
    occupancy_explorer,
    patch_explorer,
    roofline_explorer,
    sector_explorer,
    stage_explorer,
    tile_explorer,
    timeline,
)
from gemmlab.widgets.happenings import phases, roles
from gemmlab.widgets.tensor import cluster_explorer, descriptor, fragments, swizzle_explorer, tensor_map_explorer
from gemmlab.widgets.twin import PARTS, Twin

__all__ = [
    "Explorer", "PARTS", "Twin", "bank_explorer", "cluster_explorer", "descriptor", "fragment_map", "fragments",
    "occupancy_explorer", "patch_explorer", "phases", "roles", "roofline_explorer", "sector_explorer", "stage_explorer",
    "swizzle_explorer", "tensor_map_explorer", "tile_explorer", "timeline",
]  # fmt: skip
