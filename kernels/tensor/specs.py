"""The Specs of the kernels for tensor cores driven by warps, chapters 10 to 14, in the order of the climb."""

from dataclasses import replace
from types import MappingProxyType

from kernels.spec import Spec


def _spec(name: str, title: str, change: str, threads: int, tile: dict, **fields) -> Spec:
    """Return the Spec of a bf16 kernel `tensor/<name>.cu` whose grid has one CTA for each BM x BN tile of C."""
    given = {
        "chapter": name[1:3],
        "language": "cuda",
        "file": f"tensor/{name}.cu",
        "entry": name[4:],
        "block": (threads, 1, 1),
        "grid": ("cdiv(N,BN)", "cdiv(M,BM)", "1"),
        "args": ("A", "B", "C", "M", "N", "K"),
        "a_dtype": "bfloat16",
        "b_dtype": "bfloat16",
        "c_dtype": "bfloat16",
        "needs": (8, 0),
    }
    return Spec(name=name, title=title, change=change, tile=MappingProxyType(tile), **(given | fields))


def _with_fp16(*specs: Spec, **fields) -> tuple[Spec, ...]:
    """Return each kernel with its fp16 twin: the same source with the macro F16, off the ladder."""
    half = {"a_dtype": "float16", "b_dtype": "float16", "c_dtype": "float16", "rung": None, **fields}
    return tuple(
        twin
        for spec in specs
        for twin in (
            spec,
            replace(
                spec,
                name=f"{spec.name}_f16",
                title=f"{spec.title}, fp16",
                change="fp16 in place of bf16",
                defines=MappingProxyType({**spec.defines, "F16": 1}),
                prev=spec.name,
                **half,
            ),
        )
    )


CH10 = _with_fp16(
    _spec(
        "k10_wmma_global",
        "Study: WMMA from global memory",
        "a warp multiplies 16 x 16 x 16 in one call, on the tensor cores",
        128,
        {"BM": 32, "BN": 32, "BK": 16},
        prev="k09_wide_columns",
    ),
    _spec(
        "k10_wmma_shared",
        "WMMA with tiles in shared memory",
        "on the tensor cores; a tile is copied once per block, a fragment used two or four times",
        256,
        {"BM": 128, "BN": 128, "BK": 64, "WM": 64, "WN": 32},
        rung=10,
        prev="k09_wide_columns",
    ),
    _spec(
        "k10_wmma_unpadded",
        "Study: WMMA tiles without padding",
        "rows of 128 and 256 bytes",
        256,
        {"BM": 128, "BN": 128, "BK": 64, "WM": 64, "WN": 32},
        file="tensor/k10_wmma_shared.cu",
        entry="wmma_shared",
        defines=MappingProxyType({"PAD": 0}),
        prev="k10_wmma_shared",
    ),
    needs=(7, 5),
)

CH11 = _with_fp16(
    _spec(
        "k11_mma",
        "Study: mma.sync and ldmatrix, tiles row after row",
        "fragments of a known layout, fetched in rows of 16 bytes",
        256,
        {"BM": 128, "BN": 128, "BK": 64, "WM": 64, "WN": 32},
        prev="k10_wmma_shared",
    ),
    _spec(
        "k11_swizzled",
        "mma.sync and ldmatrix, tiles swizzled",
        "a chunk of 16 bytes lies at its index XOR its row",
        256,
        {"BM": 128, "BN": 128, "BK": 64, "WM": 64, "WN": 32},
        file="tensor/k11_mma.cu",
        entry="mma",
        defines=MappingProxyType({"PLACE": "swizzled"}),
        rung=11,
        prev="k10_wmma_shared",
    ),
    _spec(
        "k11_two_stages",
        "Study: two stages, one set of fragments",
        "cp.async runs ahead, ldmatrix does not",
        128,
        {"BM": 128, "BN": 128, "BK": 64, "WM": 64, "WN": 64},
        shared_bytes="2*2*BK*(BM+BN)",
        prev="k11_swizzled",
    ),
    _spec(
        "k11_double_buffer",
        "mma.sync, two stages and two sets of fragments",
        "cp.async and ldmatrix run ahead of the multiplications; C leaves through shared memory",
        128,
        {"BM": 128, "BN": 128, "BK": 64, "WM": 64, "WN": 64},
        shared_bytes="2*2*BK*(BM+BN)",
        rung=12,
        prev="k11_swizzled",
    ),
)


def _queue(
    name: str, title: str, change: str, STAGES: int, BK: int, GROUP_ROWS: int = 8, macros=None, **fields
) -> Spec:
    """Return the Spec of the multistage kernel with a queue of STAGES tiles of 128 x BK and BK x 256."""
    return _spec(
        name,
        title,
        change,
        256,
        {"BM": 128, "BN": 256, "BK": BK, "WM": 64, "WN": 64, "STAGES": STAGES},
        file="tensor/k12_multistage.cu",
        entry="multistage",
        grid=("cdiv(M,BM)*cdiv(N,BN)", "1", "1"),
        shared_bytes="STAGES*2*BK*(BM+BN)",
        defines=MappingProxyType({"STAGES": STAGES, "TILE_K": BK, "GROUP_ROWS": GROUP_ROWS, **(macros or {})}),
        **fields,
    )


def _study(STAGES: int, BK: int) -> Spec:
    title = f"Study: {STAGES} stages of BK = {BK}"
    return _queue(f"k12_{STAGES}_stages_of_{BK}", title, "stages and BK", STAGES, BK, prev="k12_tile_order")


CH12 = (
    *_with_fp16(
        _queue(
            "k12_multistage",
            "A queue of three tiles of 64 k",
            "copies run two tiles ahead",
            3,
            64,
            GROUP_ROWS=1,
            rung=13,
            prev="k11_double_buffer",
        ),
        _queue(
            "k12_tile_order",
            "The queue, C in groups of eight rows of tiles",
            "CTAs that run together share rows of A and columns of B",
            3,
            64,
            rung=14,
            prev="k12_multistage",
        ),
    ),
    *(_study(*case) for case in ((2, 32), (3, 32), (4, 32), (5, 32), (2, 64), (3, 64), (4, 64))),
)


def _float(name: str, entry: str, title: str, change: str, tile: dict, file: str = "", **fields) -> Spec:
    """Return the Spec of a kernel on float matrices, by the shape of tile/float_gemm.cuh."""
    return _spec(
        name,
        title,
        change,
        tile["BM"] * tile["BN"] // (tile["WM"] * tile["WN"]) * 32,
        {**tile, "BK": 32},
        file=f"tensor/{file or name}.cu",
        entry=entry,
        grid=("cdiv(M,BM)*cdiv(N,BN)", "1", "1"),
        shared_bytes="STAGES*4*BK*(BM+BN)",
        a_dtype="float32",
        b_dtype="float32",
        c_dtype="float32",
        **fields,
    )


_LARGE = {"BM": 256, "BN": 128, "WM": 64, "WN": 64, "STAGES": 4}
_SMALL = {"BM": 128, "BN": 128, "WM": 64, "WN": 32, "STAGES": 3}

CH13 = (
    _float(
        "k13_tf32",
        "tf32",
        "TF32: float matrices, ten mantissa bits of each factor",
        "factors are rounded to TF32 on their way to the tensor cores",
        _LARGE,
        math="tf32",
        prev="k09_wide_columns",
    ),
    _float(
        "k13_tf32_added",
        "tf32",
        "Study: TF32, rounded by an addition",
        "half of the last bit is added; NaN may become zero",
        _LARGE,
        file="k13_tf32",
        defines=MappingProxyType({"ADD_HALF": 1}),
        math="tf32",
        prev="k13_tf32",
    ),
    _float(
        "k13_3xtf32",
        "three_tf32",
        "3xTF32: nearly FP32 in three products",
        "each factor is split into a TF32 part and a rest",
        _SMALL,
        math="3xtf32",
        prev="k09_wide_columns",
    ),
    _float(
        "k13_3xtf32_inside",
        "three_tf32",
        "Study: 3xTF32, summed in the tensor cores",
        "the accumulators stay in mma.sync",
        _SMALL,
        file="k13_3xtf32",
        defines=MappingProxyType({"SUM_INSIDE": 1}),
        math="3xtf32",
        prev="k13_3xtf32",
    ),
    _float(
        "k13_bf16x9",
        "nine_bf16",
        "BF16x9: FP32 in nine products of bf16",
        "each factor is cut into three bf16 parts",
        _SMALL,
        math="bf16x9",
        prev="k13_3xtf32",
    ),
    _float(
        "k13_bf16x6",
        "nine_bf16",
        "BF16x6: the six larger products",
        "products of the order of FP32's last bit are left out",
        _SMALL,
        file="k13_bf16x9",
        defines=MappingProxyType({"PRODUCTS": 6}),
        math="bf16x6",
        prev="k13_bf16x9",
    ),
    _queue(
        "k13_f16_acc",
        "FP16 sums",
        "accumulators of eleven bits, two to a register",
        3,
        64,
        macros={"F16": 1, "F16_SUMS": 1},
        a_dtype="float16",
        b_dtype="float16",
        c_dtype="float16",
        acc_dtype="float16",
        prev="k12_tile_order_f16",
    ),
    _spec(
        "k13_int8",
        "INT8: whole numbers, exact sums",
        "bytes times bytes into 32-bit integers",
        256,
        {"BM": 128, "BN": 256, "BK": 128, "WM": 64, "WN": 64, "STAGES": 4},
        grid=("cdiv(M,BM)*cdiv(N,BN)", "1", "1"),
        shared_bytes="STAGES*BK*(BM+BN)",
        layout="row,col->row",
        a_dtype="int8",
        b_dtype="int8",
        c_dtype="int32",
        acc_dtype="int32",
        prev="k12_tile_order",
    ),
)


TILES = "cdiv(M,BM)*cdiv(N,BN)"
RING = "STAGES*(2*BK*(BM+BN)+16)"
MAPS = "map(A,BM,BK,2*BK)", "map(B,BK,64,128)"


def _tma(name: str, title: str, change: str, f16=False, macros=None, BK=64, STAGES=4, **fields) -> Spec:
    """Return the Spec of a TMA kernel with tiles of 128 x 256 x BK in a ring of STAGES, for bf16 or fp16."""
    dtype = "float16" if f16 else "bfloat16"
    given = {
        "chapter": "14",
        "language": "cuda",
        "file": "tensor/k14_tma.cu",
        "entry": "tma",
        "block": (256, 1, 1),
        "grid": (TILES, "1", "1"),
        "a_dtype": dtype,
        "b_dtype": dtype,
        "c_dtype": dtype,
        "tile": MappingProxyType({"BM": 128, "BN": 256, "BK": BK, "STAGES": STAGES}),
        "shared_bytes": RING,
        "args": (*MAPS, "C", "M", "N", "K"),
        "needs": (9, 0),
    }
    ring = {} if "file" in fields else {"BK": BK, "STAGES": STAGES}
    return Spec(
        name=name + ("_f16" if f16 else ""),
        title=title + (", fp16" if f16 else ""),
        change=change,
        defines=MappingProxyType(ring | (macros or {}) | ({"F16": 1} if f16 else {})),
        **(given | fields),
    )


def _both(*args, rung: int | None = None, **fields) -> tuple[Spec, Spec]:
    """Return a TMA kernel for bf16 (on the ladder, if `rung` says so) and for fp16."""
    return _tma(*args, rung=rung, **fields), _tma(*args, f16=True, **fields)


CH14 = (
    *_both(
        "k14_tma", "TMA fills the stages", "one thread asks for boxes; mbarriers count arrivals and bytes",
        rung=15, prev="k12_tile_order",
    ),
    *_both(
        "k14_tma_store", "TMA stores C too", "C leaves through shared memory, a box per warp",
        file="tensor/k14_tma_store.cu", entry="tma_store", args=(*MAPS, "map(C,64,64,128)", "M", "N", "K"),
        rung=16, prev="k14_tma",
    ),
    *_both(
        "k14_tma_persistent", "TMA, and CTAs that stay", "a producer warp runs ahead from tile to tile",
        file="tensor/k14_tma_persistent.cu", entry="tma_persistent", suffix="a", block=(384, 1, 1),
        tile=MappingProxyType({"BM": 256, "BN": 128, "BK": 64, "STAGES": 3}), grid=(f"min(SMS,{TILES})", "1", "1"),
        shared_bytes="STAGES*2*BK*(BM+BN)+1024+2*BM*BN", args=(*MAPS, "map(C,64,64,128)", "M", "N", "K"), rung=17,
        prev="k14_tma_store",
    ),
    *_both("k14_tma_64b", "Study: TMA with BK = 32", "rows of A of 64 bytes, eight smaller stages", BK=32, STAGES=8),
    _tma("k14_tma_64b_4_stages", "Study: BK = 32, four stages", "half as many bytes on their way", BK=32),
    _tma("k14_tma_2_stages", "Study: two stages", "one copy ahead", STAGES=2),
    _tma("k14_tma_3_stages", "Study: three stages", "two copies ahead", STAGES=3),
    _tma("k14_tma_one_producer", "Study: one producer", "warp 0 asks for every stage", macros={"PRODUCER": 0}),
)  # fmt: skip

SPECS = (*CH10, *CH11, *CH12, *CH13, *CH14)
