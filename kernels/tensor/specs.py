"""The Specs of the kernels for tensor cores driven by warps, chapters 10 to 14, in the order of the climb."""

from types import MappingProxyType

from kernels.spec import Spec

CH10 = ()

CH11 = ()

CH12 = ()

CH13 = ()



def _tma(name: str, title: str, change: str, c_map: bool = False, BK: int = 64, STAGES: int = 4, f16=False, **fields):
    """Return the Spec of a TMA kernel with tiles of 128 x 256 x BK in a ring of STAGES, for bf16 or fp16."""
    dtype, file = ("float16" if f16 else "bfloat16"), f"k14_tma{'_store' if c_map else ''}"
    ring = {} if c_map else {"BK": BK, "STAGES": STAGES}
    return Spec(
        name=name + ("_f16" if f16 else ""),
        chapter="14",
        title=title + (", fp16" if f16 else ""),
        language="cuda",
        file=f"tensor/{file}.cu",
        entry=file.removeprefix("k14_"),
        change=change,
        block=(256, 1, 1),
        grid=("cdiv(M,BM)*cdiv(N,BN)", "1", "1"),
        a_dtype=dtype,
        b_dtype=dtype,
        c_dtype=dtype,
        tile=MappingProxyType({"BM": 128, "BN": 256, "BK": BK, "STAGES": STAGES}),
        shared_bytes="STAGES*(2*BK*(BM+BN)+16)",
        args=("map(A,BM,BK,2*BK)", "map(B,BK,64,128)", "map(C,64,64,128)" if c_map else "C", "M", "N", "K"),
        defines=MappingProxyType(ring | ({"F16": 1} if f16 else {})),
        needs=(9, 0),
        **fields,
    )


def _both(*args, rung: int | None = None, **fields) -> tuple[Spec, Spec]:
    """Return a TMA kernel for bf16 (on the ladder, if `rung` says so) and for fp16."""
    return _tma(*args, rung=rung, **fields), _tma(*args, f16=True, **fields)


CH14 = (
    *_both("k14_tma", "TMA fills the stages", "one thread asks for boxes; mbarriers count arrivals and bytes"),
    *_both("k14_tma_store", "TMA stores C too", "C leaves through shared memory, a box per warp", c_map=True),
    *_both("k14_tma_64b", "Study: TMA with BK = 32", "rows of A of 64 bytes, eight smaller stages", BK=32, STAGES=8),
    _tma("k14_tma_64b_4_stages", "Study: BK = 32, four stages", "half as many bytes on their way", BK=32),
    _tma("k14_tma_2_stages", "Study: two stages", "one copy ahead", STAGES=2),
    _tma("k14_tma_3_stages", "Study: three stages", "two copies ahead", STAGES=3),
)

SPECS = (*CH10, *CH11, *CH12, *CH13, *CH14)
