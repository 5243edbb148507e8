"""Static figures of the book. Each takes plain data (traces, counters, records) and returns a figure with `.alt`.

    roofline("H200", dtypes=["float32"], points=[("naive", 0.25)])   kernels under the roof
    recorded_roofline("H200", kernels=["k03_naive"])                  the same, from results/
    llm_layers("H200", "bfloat16")                                    where a transformer's GEMMs sit
    sector_map(trace)                                                 warp request -> 32-byte sectors
    bank_grid(trace)                                                  lane -> bank, wavefront by wavefront
    matrix_rows(trace)                               row addresses of ldmatrix, phase by phase
    swizzle(0, 128), tensor_box(map, (row, column))  where TMA puts a box, and what it copies
    timeline(roles(events)), phases(events, ["full 0"])   who does what; the life of an mbarrier
    reads_per_element(trace, {"A": (M, K), "B": (K, N)})              how often each element is read
    instruction_mix(counters)                                         warp instructions by class
    sectors_by_line(counters)                                         sectors per request, by source line
    ladder_table({kernel: (prediction, limit)})      the small table that ends a lesson, with recorded rates
    ladder_bars(records)                                              measured kernels beside cuBLAS
    gantt(wave_stamps(300)), stamp_rows(stamps, …)   SMs over time, modelled or from a kernel's clocks
    register_budget({role: (warps, registers)}, 168) a CTA's registers before and after setmaxnreg
    wave_quantisation(), split_efficiency()          whole waves, Split-K and Stream-K
    number_formats(), error_curves()                 bits of a number; measured errors over K
    tensor_core_table(), fma_per_register()          five generations; what one register earns
    machine_map(blocks=8)                                             grid, block, warp, lane, and the SMs that run them
    tile_order({"plain": None, "groups": 8})          order of tiles, and what a wave shares in L2
    thread_map((32, 8), x="m")                                        thread -> warp -> element of C
    outer_product(8, 8), patch_intensity()                            a thread's patch of C and what its size buys
    lines({"name": [(x, y)]}), staircase(probe)                       measured points, and models, over a log axis
    fragments("mma.m16n8k16.bf16", lane=5)           which lane holds which element
    warp_patches({"k": trace}, (M, N))                                which elements of C a warp owns

sector_map, bank_grid and instruction_mix also take {variant title: data} to compare variants.
"""

from gemmlab.plots import palette
from gemmlab.plots.bank_grid import bank_grid, describe_banks
from gemmlab.plots.boxes import tensor_box
from gemmlab.plots.counts import instruction_mix, sectors_by_line
from gemmlab.plots.error_curves import error_curves, recorded_errors
from gemmlab.plots.formats import number_formats
from gemmlab.plots.fragments import fragments
from gemmlab.plots.gantt import gantt, stamp_rows, wave_stamps
from gemmlab.plots.generations import fma_per_register, tensor_core_table
from gemmlab.plots.ladder import ladder_bars, ladder_table, recorded_roofline
from gemmlab.plots.layers import llm_layers
from gemmlab.plots.lines import lines, staircase
from gemmlab.plots.machine_map import machine_map
from gemmlab.plots.matrix_rows import matrix_rows
from gemmlab.plots.patch import outer_product, owners_of, patch_intensity, patch_intensity_of, warp_patches
from gemmlab.plots.phases import phases
from gemmlab.plots.quantisation import split_efficiency, wave_quantisation
from gemmlab.plots.reads import count_reads, reads_per_element
from gemmlab.plots.registers import register_budget
from gemmlab.plots.roles import roles
from gemmlab.plots.roof import roofline
from gemmlab.plots.sector_map import describe_sectors, sector_map
from gemmlab.plots.spans import timeline
from gemmlab.plots.swizzles import swizzle
from gemmlab.plots.thread_map import thread_map
from gemmlab.plots.tile_orders import tile_order, tiles_taken

__all__ = [
    "bank_grid", "count_reads", "describe_banks", "describe_sectors", "error_curves",
    "fma_per_register", "fragments", "gantt", "instruction_mix", "ladder_bars", "ladder_table", "lines",
    "llm_layers", "machine_map", "matrix_rows", "number_formats", "outer_product", "owners_of", "palette",
    "patch_intensity", "patch_intensity_of", "phases", "reads_per_element", "recorded_errors", "recorded_roofline",
    "register_budget", "roles", "roofline", "sector_map", "sectors_by_line", "split_efficiency", "staircase",
    "stamp_rows", "swizzle", "tensor_box", "tensor_core_table", "thread_map", "tile_order", "tiles_taken",
    "timeline", "warp_patches", "wave_quantisation", "wave_stamps",
]  # fmt: skip
