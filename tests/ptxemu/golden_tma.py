"""Golden cases of tensor copies: where every element of a tile lands, for all ranks, sizes, swizzles and edges.

Each case loads one box into shared memory that was filled with a pattern and dumps all of it, or fills shared memory
with distinct bytes, stores (or reduces) one box, and dumps the array. ``run`` does it on either backend:
tools/record_tma.py records the GPU's bytes, test_golden_tma.py compares the emulator's.
"""

from dataclasses import dataclass

import numpy as np

import gemmlab as gl
from gemmlab.tensormap import DTYPES, TensorMap, Tiled

SHARED = 16384  # bytes dumped
_COORDINATES = ["{%2}", "{%2, %3}", "{%2, %3, %4}", "{%2, %3, %4, %5}", "{%2, %3, %4, %5, %6}"]
SOURCE = r"""
struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };
__device__ unsigned place(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void copy(const __grid_constant__ CUtensorMap map, unsigned* out, int at, int bytes, int x, int y,
                                int z, int u, int v) {
  extern __shared__ __align__(1024) unsigned s[];
  __shared__ unsigned long long bar;
  int t = threadIdx.x;
  for (int i = t; i < SHARED / 4; i += 32) s[i] = LOADS ? 0xA5A5A5A5u : out[i];
  if (t == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(place(&bar)) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (LOADS && t == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(place(&bar)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.tensor.RANKd.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, COORDS], [%7];"
                 ::"r"(place(s) + at), "l"(&map), "r"(x), "r"(y), "r"(z), "r"(u), "r"(v), "r"(place(&bar)) : "memory");
  }
  if (!LOADS && t == 0) {
    asm volatile("STORE.RANKd.global.shared::ctaOPERATION.bulk_group [%1, COORDS], [%0];"
                 ::"r"(place(s) + at), "l"(&map), "r"(x), "r"(y), "r"(z), "r"(u), "r"(v) : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
  }
  if (LOADS) {
    int done = 0;
    for (int i = 0; i < 20000 && !done; ++i)  // bounded: a byte count that the GPU sees otherwise must not hang
      asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }"
                   : "=r"(done) : "r"(place(&bar)) : "memory");
    for (int i = t; i < SHARED / 4; i += 32) out[i] = s[i];
    if (t == 0) out[SHARED / 4] = done;  // the bytes announced are the bytes that came
  }
}
"""  # noqa: E501


# Words of float32 that a type may round, flush or keep: ties of the 13 bits below TF32's, subnormals, infinities, NaN.
EDGES = (
    0x3F801000, 0x3F803000, 0xBF801000, 0xBF803000, 0x3F800FFF, 0x3F801001, 0x7F7FFFFF, 0x7F7FEFFF, 0xFF7FF000,
    0x00000001, 0x80000001, 0x00001000, 0x00003000, 0x007FFFFF, 0x807FFFFF, 0x007FF000, 0x00800000, 0x80800000,
    0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000, 0x7FC01234, 0x7F800001, 0xFF801000, 0x7F801000, 0x7FFFFFFF,
    0xFFFFFFFF, 0x00000000, 0x80000000, 0x3F800000,
)  # fmt: skip


def pattern(name, count, factor, start):
    """uint32[count]: "distinct" words, "edges" of float32 in turn, or "halves" and "singles": modest float16 or float32
    of both signs.
    """
    distinct = np.arange(count, dtype=np.uint32) * np.uint32(factor) + np.uint32(start)
    if name == "edges":
        return np.resize(np.array(EDGES, np.uint32), count)
    if name == "halves":
        return (distinct & np.uint32(0x87FF87FF)) + np.uint32(0x38003800)
    if name == "singles":
        return (distinct & np.uint32(0x83FFFFFF)) + np.uint32(0x3E000000)
    return distinct


@dataclass(frozen=True)
class TmaCase:
    """``dims``, ``box``, ``steps``, ``corner`` innermost first; ``at``: the tile's offset in shared memory; ``words``:
    the pattern of the source, a name in ``WORDS``; ``reduce``: such as "add", of a store.
    """

    dtype: str
    dims: tuple
    box: tuple
    corner: tuple
    swizzle: int = 0
    at: int = 0
    steps: tuple = ()
    nan_fill: bool = False
    load: bool = True
    words: str = "distinct"
    reduce: str = ""

    @property
    def name(self):
        parts = (self.dims, self.box, self.corner, self.steps)
        words = " ".join("x".join(map(str, part)) or "-" for part in parts)
        verb = "load" if self.load else self.reduce or "store"
        tail = " nan" * self.nan_fill + f" {self.words}" * (self.words != "distinct")
        return f"{verb} {self.dtype} {words} s{self.swizzle} +{self.at}{tail}"

    def make(self):
        """(array uint8, TensorMap): bytes of the pattern (zeros for a store), rows rounded up to 16 bytes."""
        size = DTYPES[self.dtype][1]
        strides, span = [], self.dims[0] * size
        for extent in self.dims[1:]:
            span = -(-span // 16) * 16
            strides.append(span)
            span *= extent
        words = pattern(self.words, -(-span // 4), 2654435761, 12345)
        array = words.view(np.uint8).copy() if self.load or self.reduce else np.zeros(4 * len(words), np.uint8)
        steps = self.steps or (1,) * len(self.dims)
        tiled = Tiled(self.dtype, 0, self.dims, tuple(strides), self.box, steps, self.swizzle, nan_fill=self.nan_fill)
        return array, TensorMap(array, tiled)

    def shared(self):
        """uint32: what the kernel finds in shared memory before a store."""
        return pattern(self.words, SHARED // 4 + 1, 0x9E3779B9, 0x9E3779B9)


def _cases():
    inner = {1: "uint8", 2: "float16", 4: "float32", 8: "float64"}
    for swizzle in (0, 32, 64, 128):
        for size, dtype in inner.items():
            for nbytes in (16, 32, 64, 128):
                if swizzle and nbytes > swizzle:
                    continue
                columns = nbytes // size
                dims, box, corner = (40 * columns // 16 + 64 // size, 40), (columns, 16), (16 // size, 3)
                for at in (0, 128, 640):
                    yield TmaCase(dtype, dims, box, corner, swizzle, at)
    for corner in ((-8, 0), (0, -3), (32, 30), (40, 0), (-40, 0), (8, 100), (-2147483648, 0), (2147483640, 2147483647)):
        yield TmaCase("float32", (40, 33), (32, 8), corner, 128)
        yield TmaCase("float16", (40, 33), (32, 8), corner)
        yield TmaCase("float32", (40, 33), (32, 8), corner, 128, load=False)
        yield TmaCase("float16", (40, 33), (32, 8), corner, load=False)
    for dtype in DTYPES:
        yield TmaCase(dtype, (40, 12), (16, 4), (32, 10))
        if "float" in dtype:
            yield TmaCase(dtype, (40, 12), (16, 4), (32, 10), nan_fill=True)
    for rank in range(1, 6):
        dims, box = (24, 5, 4, 3, 3)[:rank], (8, 2, 2, 2, 2)[:rank]
        for corner in ((4, 1, 1, 1, 1), (20, 4, 3, 2, 2), (-4, -1, -1, -1, -1)):
            for swizzle in (0, 32):
                yield TmaCase("float32", dims, box, corner[:rank], swizzle)
            yield TmaCase("float32", dims, box, corner[:rank], load=False)
    for step in (2, 3, 5, 8):
        yield TmaCase("float32", (40, 60), (16, 32), (8, 1), steps=(1, step))
        yield TmaCase("float32", (40, 60), (16, 32), (8, 41), 64, steps=(1, step))
        yield TmaCase("float32", (40, 60), (16, 32), (8, 1), steps=(step, 1))
        yield TmaCase("float32", (40, 60), (16, 32), (8, 1), steps=(1, step), load=False)
    for swizzle in (32, 64, 128):
        for columns in (4, 8, 16, 32):
            if 4 * columns <= swizzle:
                yield TmaCase("float32", (64, 33), (columns, 8), (4, 2), swizzle, 256, load=False)

    for load in (True, False):  # an innermost coordinate that is no multiple of 16 bytes
        yield TmaCase("float32", (40, 33), (32, 8), (1, 0), load=load)
    yield from _narrow_boxes()
    yield from _cut_rows()
    yield from _conversions()
    yield from _reductions()
    yield from _reductions_of_cut_rows()


def _narrow_boxes():
    """Boxes with rows shorter than their swizzle: planes, edges, steps, one dimension."""
    for swizzle in (32, 64, 128):
        yield TmaCase("float32", (24,), (4,), (4,), swizzle)
        yield TmaCase("float32", (24,), (4,), (4,), swizzle, load=False)
        for load in (True, False):
            yield TmaCase("float32", (24, 9, 4), (4, 4, 3), (4, 1, 1), swizzle, 128, load=load)
            yield TmaCase("float16", (24, 9, 4), (8, 4, 3), (16, 7, 2), swizzle, 1024, load=load)
            yield TmaCase("float32", (40, 60), (4, 32), (8, 1), swizzle, steps=(1, 3), load=load)
    yield TmaCase("float16", (72, 40), (48, 8), (16, 36), 128, 1024)
    yield TmaCase("float16", (72, 40), (48, 8), (16, 36), 128, 1024, load=False)


def _cut_rows():
    """Rows whose last 16 bytes are only partly inside the tensor."""
    for dtype, columns, corner, box in (
        ("float32", 33, 28, 8), ("float16", 35, 24, 16), ("uint8", 37, 16, 32), ("float64", 13, 10, 4),
    ):  # fmt: skip
        for swizzle in (0, 32):
            for load in (True, False):
                yield TmaCase(dtype, (columns, 6), (box, 4), (corner, 1), swizzle, load=load)


def _conversions():
    """What the types do to a word: round it to TF32, flush subnormals, keep NaN."""
    for dtype in ("float32", "float32_ftz", "tfloat32", "tfloat32_ftz", "uint32"):
        for load in (True, False):
            yield TmaCase(dtype, (32, 4), (32, 2), (0, 1), words="edges", load=load)
    for dtype in ("float16", "bfloat16"):
        yield TmaCase(dtype, (64, 4), (64, 2), (0, 1), words="edges")


def _reductions():
    """cp.reduce.async.bulk.tensor with the operations that PTX has for the type of the map."""
    yield TmaCase("float32", (32, 5), (32, 4), (0, 2), reduce="add", words="singles", load=False)
    yield TmaCase("float32", (32, 5), (32, 4), (0, 2), reduce="add", words="edges", load=False)
    yield TmaCase("float32_ftz", (32, 5), (32, 4), (0, 2), reduce="add", words="edges", load=False)
    for dtype in ("float16", "bfloat16"):
        for operation in ("add", "min", "max"):
            for words in ("halves", "distinct"):
                yield TmaCase(dtype, (64, 5), (64, 4), (0, 2), reduce=operation, words=words, load=False)
    for dtype, operations in (
        ("uint32", ("add", "min", "max", "inc", "dec", "and", "or", "xor")),
        ("int32", ("add", "min", "max", "and", "or", "xor")),
        ("uint64", ("add", "min", "max", "and", "or", "xor")),
        ("int64", ("add", "min", "max", "and", "or", "xor")),
    ):
        for operation in operations:
            yield TmaCase(dtype, (16, 5), (16, 4), (0, 2), reduce=operation, load=False)


def _reductions_of_cut_rows():
    """Reductions at rows whose last 16 bytes are only partly inside, and of tiles that reach past an end."""
    for dtype, operations, words, columns, corner, box in (
        ("float32", ("add",), "singles", 33, 28, 8), ("float16", ("add", "max"), "halves", 35, 24, 16),
        ("bfloat16", ("min",), "halves", 37, 32, 16), ("uint32", ("add", "dec", "xor"), "distinct", 33, 28, 8),
        ("int32", ("min",), "distinct", 34, 28, 8), ("uint64", ("add", "or"), "distinct", 13, 10, 4),
    ):  # fmt: skip
        for operation in operations:
            for swizzle in (0, 32):
                yield TmaCase(
                    dtype, (columns, 6), (box, 4), (corner, 1), swizzle, words=words, reduce=operation, load=False
                )
    for corner in ((28, 4), (40, 1), (28, 6), (28, -1), (-4, 1)):
        yield TmaCase("uint32", (33, 6), (8, 4), corner, reduce="add", load=False)
    yield TmaCase("uint32", (33, 60), (8, 32), (28, 1), steps=(1, 3), reduce="add", load=False)
    yield TmaCase("float32", (33, 6, 3), (8, 4, 2), (28, 3, 2), 32, 128, words="singles", reduce="add", load=False)


CASES = {case.name: case for case in _cases()}


def run(case, backend):
    """uint32 words: shared memory after a load, then 1 if its barrier completed; or the array after a store."""
    rank, (array, tensor_map) = len(case.dims), case.make()
    store = "cp.reduce.async.bulk.tensor" if case.reduce else "cp.async.bulk.tensor"
    text = SOURCE.replace("STORE", store).replace("OPERATION", f".{case.reduce}" * bool(case.reduce))
    text = text.replace("RANK", str(rank)).replace("COORDS", _COORDINATES[rank - 1])
    kernel = gl.cuda_source(text.replace("SHARED", str(SHARED)), "copy", LOADS=int(case.load))
    out = case.shared()
    corner = (*case.corner, 0, 0, 0, 0)[:5]
    compiled = gl.compile(kernel, "sm_90a")
    arguments = tensor_map, out, case.at, tensor_map.box_bytes, *corner
    done = gl.launch(compiled, *arguments, grid=1, block=32, shared=SHARED, backend=backend)
    assert done.report is None or not done.report.errors, str(done.report)
    return out if case.load else array.view(np.uint32)
