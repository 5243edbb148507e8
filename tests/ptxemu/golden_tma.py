"""Golden cases of tensor copies: where every element of a tile lands, for all ranks, sizes, swizzles and edges.

Each case loads one box into shared memory that was filled with a pattern and dumps all of it, or fills shared memory
with distinct bytes, stores one box, and dumps the array. ``run`` does it on either backend: tools/record_tma.py records
the GPU's bytes, test_golden_tma.py compares the emulator's.
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
  for (int i = t; i < SHARED / 4; i += 32) s[i] = LOADS ? 0xA5A5A5A5u : 0x9E3779B9u * (i + 1);
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
    asm volatile("cp.async.bulk.tensor.RANKd.global.shared::cta.bulk_group [%1, COORDS], [%0];"
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


@dataclass(frozen=True)
class TmaCase:
    """``dims``, ``box``, ``steps``, ``corner`` innermost first (``corner[0]`` a multiple of 16 bytes, else a GPU stops
    with an illegal instruction); ``at``: the tile's offset in shared memory.
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

    @property
    def name(self):
        parts = (self.dims, self.box, self.corner, self.steps)
        words = " ".join("x".join(map(str, part)) or "-" for part in parts)
        verb = "load" if self.load else "store"
        return f"{verb} {self.dtype} {words} s{self.swizzle} +{self.at}" + " nan" * self.nan_fill

    def make(self):
        """(array uint8, TensorMap): distinct bytes, rows rounded up to 16 bytes."""
        size = DTYPES[self.dtype][1]
        strides, span = [], self.dims[0] * size
        for extent in self.dims[1:]:
            span = -(-span // 16) * 16
            strides.append(span)
            span *= extent
        words = np.arange(-(-span // 4), dtype=np.uint32) * np.uint32(2654435761) + np.uint32(12345)
        array = words.view(np.uint8).copy() if self.load else np.zeros(4 * len(words), np.uint8)
        steps = self.steps or (1,) * len(self.dims)
        tiled = Tiled(self.dtype, 0, self.dims, tuple(strides), self.box, steps, self.swizzle, nan_fill=self.nan_fill)
        return array, TensorMap(array, tiled)


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


CASES = {case.name: case for case in _cases()}


def run(case, backend):
    """uint32 words: shared memory after a load, then 1 if its barrier completed; or the array after a store."""
    rank, (array, tensor_map) = len(case.dims), case.make()
    text = SOURCE.replace("RANK", str(rank)).replace("COORDS", _COORDINATES[rank - 1])
    kernel = gl.cuda_source(text.replace("SHARED", str(SHARED)), "copy", LOADS=int(case.load))
    out = np.zeros(SHARED // 4 + 1, np.uint32)
    corner = (*case.corner, 0, 0, 0, 0)[:5]
    compiled = gl.compile(kernel, "sm_90a")
    arguments = tensor_map, out, case.at, tensor_map.box_bytes, *corner
    done = gl.launch(compiled, *arguments, grid=1, block=32, shared=SHARED, backend=backend)
    assert done.report is None or not done.report.errors, str(done.report)
    return out if case.load else array.view(np.uint32)
