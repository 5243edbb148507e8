"""The Specs of chapters 05 to 09, in the order of the climb."""

from types import MappingProxyType

from kernels.spec import Spec


def _spec(name: str, entry: str, title: str, change: str, block, tile: dict, **fields) -> Spec:
    """Return the Spec of a Numba kernel whose grid has one CTA for each BM x BN tile of C."""
    return Spec(
        name=name,
        chapter=name[1:3],
        title=title,
        language="numba",
        file=f"simt/{name}.py",
        entry=entry,
        change=change,
        block=block,
        grid=("cdiv(N,BN)", "cdiv(M,BM)", "1"),
        tile=MappingProxyType(tile),
        **fields,
    )


SPECS = (
    _spec(
        "k05_tiled_square",
        "tiled_square",
        "Square tiles in shared memory",
        "each element of a tile comes from global memory once per block",
        (32, 32, 1),
        {"BM": 32, "BN": 32, "BK": 32},
        rung=3,
        prev="k04_coalesced",
    ),
    _spec(
        "k05_tiled",
        "tiled",
        "Tiles of any size in shared memory",
        "BM, BN and BK are chosen independently",
        (32, 16, 1),
        {"BM": 16, "BN": 32, "BK": 64},
        prev="k05_tiled_square",
    ),
    _spec(
        "k07_register_1d",
        "register_1d",
        "A column of C per thread",
        "a value of B in a register serves TM multiply-adds",
        (512, 1, 1),
        {"BM": 64, "BN": 64, "BK": 8, "TM": 8, "TN": 1},
        rung=4,
        prev="k05_tiled_square",
    ),
    _spec(
        "k07_register_square",
        "register_square",
        "A square patch of C per thread, one tile edge",
        "BM = BN = BK and TM = TN",
        (16, 16, 1),
        {"BM": 64, "BN": 64, "BK": 64, "TM": 4, "TN": 4},
        prev="k07_register_1d",
    ),
    _spec(
        "k07_register_2d",
        "register_2d",
        "An 8 x 8 patch of C per thread",
        "TM + TN values in registers serve TM * TN multiply-adds",
        (256, 1, 1),
        {"BM": 128, "BN": 128, "BK": 8, "TM": 8, "TN": 8},
        rung=5,
        prev="k07_register_1d",
    ),
    _spec(
        "k07_warp_tile",
        "warp_tile",
        "A 64 x 32 patch of C per warp",
        "lanes and shared layout are arranged so that a warp's loads meet no bank twice",
        (256, 1, 1),
        {"BM": 128, "BN": 128, "BK": 8, "WM": 64, "WN": 32, "TM": 8, "TN": 8},
        rung=6,
        prev="k07_register_2d",
    ),
    _spec(
        "k08_vectorised",
        "vectorised",
        "128-bit access everywhere",
        "one load or store moves four neighbours",
        (256, 1, 1),
        {"BM": 128, "BN": 128, "BK": 8, "WM": 64, "WN": 32, "TM": 8, "TN": 8},
        rung=7,
        prev="k07_warp_tile",
    ),
    _spec(
        "k09_double_buffer",
        "double_buffer",
        "Double buffering through registers",
        "the next tile is loaded while this one is multiplied",
        (256, 1, 1),
        {"BM": 128, "BN": 128, "BK": 8, "WM": 64, "WN": 32, "TM": 8, "TN": 8},
        rung=8,
        prev="k08_vectorised",
    ),
    _spec(
        "k09_wide_patch",
        "wide_patch",
        "An 8 x 16 patch per thread: the best CUDA-core kernel",
        "six shared loads feed 128 multiply-adds",
        (256, 1, 1),
        {"BM": 128, "BN": 256, "BK": 8, "WM": 64, "WN": 64, "TM": 8, "TN": 16},
        rung=9,
        prev="k09_double_buffer",
    ),
)
