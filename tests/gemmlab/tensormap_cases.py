"""Arguments of cuTensorMapEncodeTiled, good and bad, for tools/record_tensormaps.py and test_tensormap.py.

`address` is an offset into an allocation that begins at a multiple of 256.
"""

from dataclasses import replace

from gemmlab.tensormap import DTYPES, Tiled

_SIZE = {name: size for name, (_, size) in DTYPES.items()}
BASE = Tiled("float16", 0, (256, 128), (512,), (64, 64), (1, 1))


def _matrix(dtype, columns, rows=128, **changes):
    """A row-major matrix, without padding, with a box of 16 bytes by 8 rows."""
    size = _SIZE[dtype]
    return replace(BASE, dtype=dtype, dims=(columns, rows), strides=(columns * size,), box=(16 // size, 8), **changes)


def _deep(rank):
    dims, strides = (64, 8, 4, 3, 2, 2)[:rank], (128, 1024, 4096, 12288, 24576)[: max(rank - 1, 0)]
    return replace(BASE, dims=dims, strides=strides, box=(8, 2, 2, 2, 2, 2)[:rank], element_strides=(1,) * rank)


def _cases():
    for dtype in DTYPES:
        yield _matrix(dtype, 256)
        yield _matrix(dtype, 256, nan_fill=True)
        yield _matrix(dtype, 16 // _SIZE[dtype] * 3)
        yield _matrix(dtype, 100 if _SIZE[dtype] < 4 else 101)
    for columns in (96, 97, 98, 100, 104, 112, 120, 500, 512):
        yield _matrix("float16", columns)
        yield _matrix("float32", columns)
        yield _matrix("uint8", columns)
    for rank in range(1, 6):
        yield _deep(rank)
        yield replace(_deep(rank), address=16)
    for address in (1, 2, 4, 8, 16, 24, 32, 48, 64, 128):
        yield replace(BASE, address=address)
    for stride in (0, 8, 16, 64, 128, 256, 496, 504, 512, 520, 528, 1 << 20, (1 << 40) - 16, 1 << 40, 1 << 41):
        yield replace(BASE, strides=(stride,))
        yield replace(_deep(3), strides=(128, stride))
    for extent in (0, 1, 2, 7, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 32) + 1):
        yield replace(BASE, dims=(extent, 128))
        yield replace(BASE, dims=(256, extent))
    for extent in (0, 1, 2, 3, 5, 8, 64, 127, 128, 129, 255, 256, 257, 512):
        yield replace(BASE, box=(64, extent))
        yield replace(BASE, box=(extent, 8))
        yield replace(BASE, dtype="uint8", box=(extent, 8))
    for swizzle in (0, 32, 64, 128):
        for dtype in ("uint8", "float16", "float32", "float64"):
            for nbytes in (16, 32, 48, 64, 80, 128, 144, 256):
                yield replace(
                    BASE, dtype=dtype, strides=(4096,), box=(nbytes // _SIZE[dtype], 8), swizzle=swizzle
                )  # fmt: skip
    for step in (0, 1, 2, 3, 4, 7, 8, 9, 16):
        yield replace(BASE, element_strides=(1, step))
        yield replace(BASE, element_strides=(step, 1))
        yield replace(BASE, element_strides=(1, step), box=(64, 256))
        yield replace(BASE, element_strides=(1, step), box=(64, 1))
    for promotion in (0, 64, 128, 256):
        yield replace(BASE, l2_promotion=promotion)
        yield replace(_matrix("float32", 16), l2_promotion=promotion)
    for box in ((64, 256), (128, 256), (256, 256), (256, 128)):
        yield replace(BASE, box=box)
        yield replace(BASE, dims=(32, 16), strides=(64,), box=box)  # a box larger than the tensor


def key(tiled):
    """A name that is the same on every machine."""
    flags = "nan" if tiled.nan_fill else ""
    parts = (tiled.dims, tiled.strides, tiled.box, tiled.element_strides)
    words = " ".join("x".join(map(str, part)) or "-" for part in parts)
    return f"{tiled.dtype}+{tiled.address} {words} s{tiled.swizzle} l{tiled.l2_promotion} {flags}".strip()


CASES = {key(tiled): tiled for tiled in _cases()}
