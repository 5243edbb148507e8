"""The Specs of the kernels for Hopper's warpgroups, chapters 15 to 19, in the order of the climb."""

from types import MappingProxyType

from kernels.spec import Spec

BOXES_A, BOXES_B = "map(A,BM,64,128)", "map(B,64,64,128)"
HALF_BOXES_A = "map(A,BM//2,64,128)"  # where two CTAs share A


def _wgmma(name: str, title: str, change: str, tile: tuple[int, int], block: int, stages=1, f16=False, **fields):
    """Return the Spec of a wgmma kernel: tiles of BM x BN x 64 in a ring of `stages`, C by ordinary stores."""
    dtype = "float16" if f16 else "bfloat16"
    BM, BN = tile
    return Spec(
        **{
            "name": name + ("_f16" if f16 else ""),
            "chapter": name[1:3],
            "title": title + (", fp16" if f16 else ""),
            "language": "cuda",
            "file": f"hopper/{name}.cu",
            "entry": name[4:],
            "change": change,
            "block": (block, 1, 1),
            "grid": ("cdiv(N,BN)", "cdiv(M,BM)", "1"),
            "a_dtype": dtype,
            "b_dtype": dtype,
            "c_dtype": dtype,
            "tile": MappingProxyType({"BM": BM, "BN": BN, "BK": 64, "STAGES": stages}),
            "shared_bytes": "STAGES*(2*BK*(BM+BN)+16)",
            "args": (BOXES_A, BOXES_B, "C", "M", "N", "K"),
            "defines": MappingProxyType({"F16": 1} if f16 else {}),
            "needs": (9, 0),
            "suffix": "a",
        }
        | fields
    )


def _both(name: str, *args, rung: int | None = None, prev: str | None = None, **fields) -> tuple[Spec, Spec]:
    """Return a kernel for bf16 (on the ladder, if `rung` says so) and for fp16."""
    half = {**fields, "defines": MappingProxyType({**fields.get("defines", {}), "F16": 1})}
    return _wgmma(name, *args, rung=rung, prev=prev, **fields), _wgmma(name, *args, f16=True, prev=name, **half)


CH15 = (
    *_both(
        "k15_wgmma", "wgmma: 128 threads, one instruction", "operands by descriptor, not by register", (128, 128), 128,
        rung=18, prev="k14_tma_persistent",
    ),
    *_both(
        "k15_wgmma_rs", "Study: A from registers", "ldmatrix loads A; B stays in shared memory", (128, 128), 128,
        prev="k15_wgmma",
    ),
    *_both(
        "k15_k_major", "Study: B stored by columns", "both operands are K-major", (128, 128), 128,
        layout="row,col->row", args=(BOXES_A, "map(B,BN,64,128)", "C", "M", "N", "K"), prev="k15_wgmma",
    ),
)  # fmt: skip
CH16 = (
    *_both(
        "k16_multistage", "A ring of stages", "copies run ahead of the multiplication", (128, 128), 256, 4,
        rung=19, prev="k15_wgmma",
    ),
    _wgmma(
        "k16_multistage_pair", "Study: two CTAs per SM", "three stages each; one multiplies while the other stores",
        (128, 128), 256, 3, file="hopper/k16_multistage.cu", entry="multistage",
        defines=MappingProxyType({"DEPTH": 3, "RESIDENT": 2}), prev="k16_multistage",
    ),
    _wgmma(
        "k16_multistage_wide", "Study: a tile of 128 x 256 without roles", "twice the columns per warpgroup",
        (128, 256), 256, 4, file="hopper/k16_multistage.cu", entry="multistage",
        defines=MappingProxyType({"WIDTH": 256}), prev="k16_multistage",
    ),
    *_both(
        "k16_warp_specialised", "A producer and a consumer", "copying and multiplying are different warpgroups",
        (128, 128), 256, 3, rung=20, prev="k16_multistage",
    ),
    *_both(
        "k16_two_consumers", "Two consumers, a tile of 128 x 256", "a third more work per byte from L2", (128, 256),
        384, 4, rung=21, prev="k16_warp_specialised",
    ),
)  # fmt: skip
CH17 = (
    *_both(
        "k17_multicast", "Two CTAs share a tile of B", "each copies half of B's tile to both", (128, 256), 384, 4,
        grid=("cdiv(N,BN)", "2*cdiv(M,2*BM)", "1"), rung=22, prev="k16_two_consumers",
    ),
    *_both(
        "k17_dsmem", "Study: two CTAs split K", "partial sums cross from SM to SM", (128, 128), 128,
        grid=("cdiv(N,BN)", "cdiv(M,BM)", "2"), shared_bytes="2*BK*(BM+BN)+BM*BN*2+16", prev="k15_wgmma",
    ),
)  # fmt: skip
PAIRS = "2*cdiv(M,2*BM)*cdiv(N,BN)"  # tiles, in pairs of CTAs


def _persistent(name: str, title: str, change: str, tile: tuple[int, int], stages: int, **fields) -> tuple[Spec, Spec]:
    """Return a persistent kernel, bf16 and fp16: pairs of CTAs on all SMs, C by TMA from 2 x 2 boxes of staging."""
    return _both(
        name, title, change, tile, 384, stages,
        **{
            "grid": (f"min(SMS//2*2,{PAIRS})", "1", "1"),
            "shared_bytes": "STAGES*2*BK*(BM+BN)+2*2*8192+1024",
            "args": (BOXES_A, BOXES_B, "map(C,64,64,128)", "M", "N", "K"),
        }
        | fields,
    )  # fmt: skip


def _stream_k(name: str, title: str, change: str, tile: tuple[int, int], stages: int, **fields) -> tuple[Spec, Spec]:
    """Return a Stream-K kernel: as many CTAs as there are SMs, or k steps; W holds flags and one tile for each."""
    return _persistent(
        name, title, change, tile, stages, entry="stream_k", file="hopper/k19_stream_k.cu",
        grid=(f"min(SMS//2*2,{PAIRS}*cdiv(K,BK))", "1", "1"), workspace="cdiv(SMS*32,128)*128+SMS*BM*BN*4",
        args=(BOXES_A, BOXES_B, "map(C,64,64,128)", "W", "M", "N", "K"), **fields,
    )  # fmt: skip


def _one_wave(
    name: str, title: str, change: str, tile: tuple[int, int], stages: int, consumers: int, ahead: int, across=0
):
    """Return a kernel with one tile per CTA, in pairs that share B, or A if they stand side by side (`across`)."""
    A, last = HALF_BOXES_A if across else BOXES_A, tile[1] % 64 or 64  # columns of the last box of B
    defines = _config(tile, stages) | {"CONFIG_CONSUMERS": consumers, "CONFIG_ACROSS": across, "CONFIG_AHEAD": ahead}
    return _both(
        name, title, change, tile, 128 + 128 * consumers, stages, file="hopper/k19_one_wave.cu", entry="one_wave",
        grid=("2", "cdiv(M,BM)", "cdiv(N,2*BN)") if across else ("2", "cdiv(M,2*BM)", "cdiv(N,BN)"),
        args=(A, BOXES_B, f"map(B,64,{last},128)", "C", "M", "N", "K"), defines=MappingProxyType(defines),
        shared_bytes="STAGES*(2*BK*(BM+cdiv(BN,64)*64)+16)", prev="k18_pingpong",
    )  # fmt: skip


def _split_k_cluster(split: int) -> tuple[Spec, Spec]:
    """Return the Split-K kernel with clusters of `split` CTAs per tile."""
    return _both(
        f"k19_split_k_cluster{split}", f"Study: Split-K in clusters of {split}", f"{split} CTAs add in shared memory",
        (128, 128), 384, 6, file="hopper/k19_split_k_cluster.cu", entry="split_k_cluster", prev="k19_split_k",
        grid=(f"{split}", "cdiv(N,BN)", "cdiv(M,BM)"), defines=MappingProxyType({"CONFIG_SPLIT": split}),
    )  # fmt: skip


def _config(tile: tuple[int, int], stages: int) -> MappingProxyType:
    return MappingProxyType({"CONFIG_BM": tile[0], "CONFIG_BN": tile[1], "CONFIG_STAGES": stages})


CH18 = (
    *_persistent(
        "k18_cooperative", "Persistent, cooperative", "CTAs stay; two warpgroups share a tile",
        (128, 256), 4, rung=23, prev="k17_multicast",
    ),
    _persistent(
        "k18_rows", "Study: tiles row by row", "no groups of rows: another order of tiles", (128, 256), 4,
        prev="k18_cooperative", file="hopper/k18_cooperative.cu", entry="cooperative",
        defines=MappingProxyType({"CONFIG_GROUP": 1}),
    )[0],
    *_persistent(
        "k18_cooperative_128", "Study: tiles of 128 x 128", "twice as many tiles", (128, 128), 6,
        prev="k18_cooperative", file="hopper/k18_cooperative.cu", entry="cooperative", defines=_config((128, 128), 6),
    ),
    *_persistent(
        "k18_pingpong", "Persistent, ping-pong", "a tile per warpgroup: one multiplies, one stores", (128, 128), 6,
        rung=24, prev="k18_cooperative",
    ),
)  # fmt: skip
CH19 = (
    *_one_wave(
        "k19_one_wave", "One wave of tiles of 192 x 200", "a tile as large as the SMs' share of C", (192, 200), 4, 3, 2,
    ),
    *_one_wave(
        "k19_one_wave_64", "Study: one wave of tiles of 64 x 128", "a tile as small as the SMs' share of C", (64, 128),
        8, 1, 8, across=1,
    ),
    *_one_wave(
        "k19_one_wave_128", "Study: one wave of tiles of 128 x 128", "one warpgroup has the whole tile", (128, 128),
        6, 1, 6,
    ),
    *_stream_k(
        "k19_stream_k", "Stream-K", "the k steps of the last tiles are dealt out evenly", (128, 128), 6,
        prev="k18_pingpong",
    ),
    *_stream_k(
        "k19_stream_k_256", "Study: Stream-K with tiles of 128 x 256", "fewer bytes, larger parts", (128, 256), 4,
        prev="k19_stream_k", defines=_config((128, 256), 4),
    ),
    *_stream_k(
        "k19_split_tail", "Split tail", "only the last tiles are cut, all at the same k", (128, 128), 6,
        prev="k19_stream_k", defines=MappingProxyType({"CONFIG_SPLIT_TAIL": 1}),
    ),
    *_stream_k(
        "k19_split_tail_256", "Study: split tail with tiles of 128 x 256", "fewer bytes, a longer tail", (128, 256), 4,
        prev="k19_split_tail", defines=MappingProxyType({"CONFIG_SPLIT_TAIL": 1, **_config((128, 256), 4)}),
    ),
    *_both(
        "k19_split_k", "Split-K", "all SMs share the K of few tiles", (128, 128), 384, 5, prev="k18_pingpong",
        grid=("2*cdiv(N,2*BN)", "cdiv(M,BM)", "max(1,min(SMS//(2*cdiv(N,2*BN)*cdiv(M,BM)),cdiv(K,BK)))"),
        args=(HALF_BOXES_A, BOXES_B, "C", "W", "M", "N", "K"), shared_bytes="STAGES*2*BK*(BM+BN)+1024+BM*BN*2",
        workspace="cdiv(SMS*SMS*16,128)*128+SMS*BM*BN*4",  # flags: at most SMS times SMS / 2 parts, for 8 warps
    ),
    *(kernel for split in (2, 4, 8) for kernel in _split_k_cluster(split)),
    *_both(
        "k19_sliced_k", "Sliced-K: two warpgroups, one tile", "each warpgroup takes every other k step", (64, 128), 384,
        8, shared_bytes="STAGES*2*BK*(BM+BN)+2048", prev="k16_warp_specialised",
    ),
)  # fmt: skip

SPECS = (*CH15, *CH16, *CH17, *CH18, *CH19)
