"""Tensor maps for TMA on both backends, and the reason when an array or a box cannot have one.

The rules are those of cuTensorMapEncodeTiled (CUDA driver API, "Tensor Map Object Management"), which itself only says
CUDA_ERROR_INVALID_VALUE. The driver counts dimensions from the innermost; `tensor_map` takes shapes in NumPy's order.
"""

from dataclasses import dataclass

import numpy as np

from gemmlab import compat
from gemmlab.args import is_array
from gemmlab.errors import GemmlabError

# name of a dtype -> (CUtensorMapDataType without its prefix, bytes)
DTYPES = {
    "uint8": ("UINT8", 1), "uint16": ("UINT16", 2), "uint32": ("UINT32", 4), "int32": ("INT32", 4),
    "uint64": ("UINT64", 8), "int64": ("INT64", 8), "float16": ("FLOAT16", 2), "float32": ("FLOAT32", 4),
    "float64": ("FLOAT64", 8), "bfloat16": ("BFLOAT16", 2), "float32_ftz": ("FLOAT32_FTZ", 4),
    "tfloat32": ("TFLOAT32", 4), "tfloat32_ftz": ("TFLOAT32_FTZ", 4),
}  # fmt: skip
_CARRIERS = {"int8": "uint8", "int16": "uint16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8"}
SWIZZLES = (0, 32, 64, 128)
L2_PROMOTIONS = (0, 64, 128, 256)
MAX_RANK, MAX_BOX, MAX_STEP = 5, 256, 8


@dataclass(frozen=True)
class Tiled:
    """The arguments of cuTensorMapEncodeTiled, innermost dimension first: `dims` in elements, `strides` in bytes (one
    fewer than dims), `box` and `element_strides` in elements, `swizzle` and `l2_promotion` in bytes (0: none).
    """

    dtype: str
    address: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    element_strides: tuple[int, ...]
    swizzle: int = 0
    l2_promotion: int = 0
    nan_fill: bool = False


@dataclass(frozen=True, eq=False)
class TensorMap:
    """A tensor map to pass to `gl.launch` for a parameter `const __grid_constant__ CUtensorMap`: `array` seen as
    `tiled`, whose address is filled in at the launch.
    """

    array: object
    tiled: Tiled

    @property
    def box_bytes(self) -> int:
        """Bytes that one copy brings: what expect_tx must announce."""
        tiled = self.tiled
        counts = [-(-box // step) for box, step in zip(tiled.box, (1, *tiled.element_strides[1:]), strict=True)]
        return int(np.prod(counts)) * DTYPES[tiled.dtype][1]


def refusal(tiled: Tiled) -> str | None:
    """Say why the driver refuses these arguments: field, rule, value and what to change. None where it accepts them."""
    return next(_refusals(tiled), None)


def _refusals(tiled: Tiled):
    if tiled.dtype not in DTYPES:
        yield f"tensorDataType: {tiled.dtype!r} is no type of tensor maps: use one of {', '.join(DTYPES)}"
        return
    size, rank = DTYPES[tiled.dtype][1], len(tiled.dims)
    if not 1 <= rank <= MAX_RANK:
        yield f"tensorRank: a tensor map has 1 to {MAX_RANK} dimensions, got {rank}: merge or split dimensions"
        return
    yield from _lengths(tiled, rank)
    if tiled.address % 16:
        yield (
            f"globalAddress: it must be a multiple of 16 bytes, and {tiled.address:#x} is {tiled.address % 16} past "
            "one: start the array (or the slice) at an aligned element"
        )
    for d, extent in enumerate(tiled.dims):
        if not 1 <= extent <= 1 << 32:
            yield f"globalDim[{d}]: a dimension has 1 to 2^32 elements, got {extent}"
    for d, stride in enumerate(tiled.strides):
        yield from _stride(d, stride, size)
    for d, extent in enumerate(tiled.box):
        if not 1 <= extent <= MAX_BOX:
            yield f"boxDim[{d}]: a box has 1 to {MAX_BOX} elements per dimension, got {extent}: make smaller copies"
    yield from _inner_box(tiled, size)
    for d, step in enumerate(tiled.element_strides):
        if not 1 <= step <= MAX_STEP:
            yield f"elementStrides[{d}]: element strides are 1 to {MAX_STEP}, got {step}: use 1 to take every element"
    if tiled.l2_promotion not in L2_PROMOTIONS:
        yield f"l2Promotion: choose 0, 64, 128 or 256 bytes, got {tiled.l2_promotion}"
    if tiled.nan_fill and "float" not in tiled.dtype:
        yield f"oobFill: only floating-point types can be filled with NaN, and this is {tiled.dtype}: fill with zeros"


def _lengths(tiled, rank):
    if len(tiled.strides) != rank - 1:
        yield (
            f"globalStrides: {rank - 1} entries in bytes for rank {rank} (the innermost stride is always one element), "
            f"got {len(tiled.strides)}: {list(tiled.strides)}"
        )
    for field, values in (("boxDim", tiled.box), ("elementStrides", tiled.element_strides)):
        if len(values) != rank:
            yield f"{field}: one entry per dimension, so {rank}, got {len(values)}: {list(values)}"


def _stride(d, stride, size):
    if stride % 16:
        advice = f"pad the rows to {-(-stride // 16) * 16 // size} elements" if stride % size == 0 else "pad the rows"
        yield (
            f"globalStrides[{d}]: strides are in bytes and multiples of 16, and {stride} mod 16 = {stride % 16}: "
            f"{advice} (gl.pad_for_tma)"
        )
    elif not 0 <= stride < 1 << 40:
        yield f"globalStrides[{d}]: a stride is less than 2^40 bytes, got {stride}"


def _inner_box(tiled, size):
    if tiled.swizzle not in SWIZZLES:
        yield f"swizzle: choose 0, 32, 64 or 128 bytes, got {tiled.swizzle}"
        return
    inner = tiled.box[0] * size if tiled.box else 0
    if inner % 16:
        yield (
            f"boxDim[0]: the inner box is a multiple of 16 bytes, and {tiled.box[0]} x {size} bytes = {inner}: use a "
            f"multiple of {16 // size} elements"
        )
    elif tiled.swizzle and inner > tiled.swizzle:
        yield (
            f"boxDim[0]: with a swizzle of {tiled.swizzle} bytes the inner box has at most {tiled.swizzle}, and "
            f"{tiled.box[0]} x {size} bytes = {inner}: use at most {tiled.swizzle // size} elements, or several copies"
        )


def tensor_map(
    array, box, *, swizzle=0, shape=None, element_strides=None, dtype=None, fill="zeros", l2_promotion=128
) -> TensorMap:
    """Make a tensor map of `array` (NumPy or CuPy) whose copies move boxes of `box` elements.

    `box`, `shape` and `element_strides` are in the order of the array's axes (rows, columns); a kernel's coordinates
    are the other way round, innermost first. `swizzle`: 0, 32, 64 or 128 bytes. `shape`: a smaller extent to see, for
    padded arrays (default: the array's). `dtype`: how to read elements, such as "tfloat32" (default: the array's).
    `fill`: "zeros" or "nan" for elements outside. Raises GemmlabError: field, rule, value, what to change.
    """
    if not is_array(array):
        raise GemmlabError(f"tensor_map needs an array of NumPy or CuPy, got {type(array).__name__}")
    name = dtype or _CARRIERS.get(str(array.dtype), str(array.dtype))
    shape = tuple(array.shape) if shape is None else tuple(shape)
    box = (box,) if isinstance(box, (int, np.integer)) else tuple(box)
    steps = (1,) * len(shape) if element_strides is None else tuple(element_strides)
    if fill not in ("zeros", "nan"):
        raise GemmlabError(f'fill={fill!r}: choose "zeros" or "nan"')
    if len(shape) != array.ndim or any(s > a for s, a in zip(shape, array.shape, strict=True)):
        raise GemmlabError(f"shape={shape}: give at most the array's own extents {tuple(array.shape)}")
    if array.strides[-1] != array.dtype.itemsize:
        raise GemmlabError(
            f"the innermost axis has a stride of {array.strides[-1]} bytes, and TMA needs neighbouring elements "
            f"({array.dtype.itemsize}): pass a row-major array, or its transpose with the box turned round"
        )
    inner_first = lambda values: tuple(int(v) for v in reversed(values))  # noqa: E731
    arguments = inner_first(shape), inner_first(array.strides[:-1]), inner_first(box), inner_first(steps)
    tiled = Tiled(name, 0, *arguments, swizzle=swizzle, l2_promotion=l2_promotion, nan_fill=fill == "nan")
    why = refusal(tiled)
    if why is None and DTYPES[name][1] != array.dtype.itemsize:
        why = f"tensorDataType: {name} has {DTYPES[name][1]} bytes and the array's elements {array.dtype.itemsize}"
    if why:
        raise GemmlabError(why)
    return TensorMap(array, tiled)


def pad_for_tma(array, fill=0, spare: int = 0):
    """Copy an array into one whose rows are multiples of 16 bytes and `spare` times 16 more, padded with `fill`; its
    use: `tensor_map(pad_for_tma(A), box, shape=A.shape)`.
    """
    unit = max(1, 16 // array.dtype.itemsize)
    extent = (-(-array.shape[-1] // unit) + spare) * unit
    module = np if isinstance(array, np.ndarray) else compat.import_cupy()
    padded = module.zeros((*array.shape[:-1], extent), array.dtype)
    if fill != 0:
        padded[..., array.shape[-1] :] = fill
    words = f"u{array.dtype.itemsize}"  # copied as bits: CuPy has no arithmetic for every type
    padded.view(words)[..., : array.shape[-1]] = array.view(words)
    return padded


def for_emulator(tensor_map: TensorMap, wrapped):
    """The emulator's form of a map; `wrapped`: its array as ptxemu takes it."""
    import ptxemu

    tiled = tensor_map.tiled
    layout = tiled.dims, tiled.strides, tiled.box, tiled.element_strides
    return ptxemu.TensorMap(wrapped, tiled.dtype, *layout, swizzle=tiled.swizzle, nan_fill=tiled.nan_fill)


def for_gpu(tiled: Tiled, address: int) -> bytes:
    """The driver's 128 bytes of a map of the array at `address`. Raises GemmlabError when the driver refuses it."""
    status, data = compat.encode_tensor_map(tiled, DTYPES[tiled.dtype][0], address)
    if data is None:
        why = refusal(Tiled(**{**vars(tiled), "address": address})) or f"the driver refuses these arguments: {tiled}"
        raise GemmlabError(f"cuTensorMapEncodeTiled failed ({status}): {why}")
    return data
