"""128-bit loads and stores for Numba kernels: the one place that writes LLVM by hand.

Numba has no vector types for arrays. These intrinsics take an array and the index of an element in memory order (row *
pitch + column for a C-contiguous matrix) and move four neighbouring float32 with one ld.v4.f32 or st.v4.f32. Negative
indices do not wrap around.

NOTE: the address must be a multiple of 16 bytes, or the kernel stops with a misaligned address (PTX ISA, "Vectors").
"""

from llvmlite import ir
from numba.core import types
from numba.cuda.extending import intrinsic

WIDTH = 4  # float32 elements in 16 bytes
_VECTOR = ir.VectorType(ir.FloatType(), WIDTH)


def _pointer(context, builder, array_type, array, index_type, index):
    """Return the address of element `index` of `array` as a pointer to four floats."""
    data = context.make_array(array_type)(context, builder, array).data
    wide = context.cast(builder, index, index_type, types.uint64)
    return builder.bitcast(builder.gep(data, [wide], inbounds=True), _VECTOR.as_pointer())


def _require(array, index):
    if not (isinstance(array, types.Array) and array.dtype == types.float32):
        raise TypeError(f"128-bit access needs a float32 array, got {array}")
    if not isinstance(index, types.Integer):
        raise TypeError(f"128-bit access needs an integer index, got {index}")


@intrinsic
def load4(typingctx, array, index):
    """Return elements index … index + 3 of a float32 array as a tuple of four float32."""
    _require(array, index)
    signature = types.UniTuple(types.float32, WIDTH)(array, index)

    def codegen(context, builder, signature, args):
        pointer = _pointer(context, builder, signature.args[0], args[0], signature.args[1], args[1])
        vector = builder.load(pointer, align=16)
        parts = [builder.extract_element(vector, ir.Constant(ir.IntType(32), i)) for i in range(WIDTH)]
        return context.make_tuple(builder, signature.return_type, parts)

    return signature, codegen


@intrinsic
def store4(typingctx, array, index, x0, x1, x2, x3):
    """Store four float32 as elements index … index + 3 of a float32 array."""
    _require(array, index)
    signature = types.void(array, index, *(types.float32,) * WIDTH)

    def codegen(context, builder, signature, args):
        pointer = _pointer(context, builder, signature.args[0], args[0], signature.args[1], args[1])
        vector = ir.Constant(_VECTOR, ir.Undefined)
        for i, part in enumerate(args[2:]):
            vector = builder.insert_element(vector, part, ir.Constant(ir.IntType(32), i))
        builder.store(vector, pointer, align=16)
        return context.get_dummy_value()

    return signature, codegen
