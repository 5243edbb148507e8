"""cp.async for Numba kernels: copies from global to shared memory that pass through no register (sm_80 and later).

Numba has no name for these instructions, so each is a line of inline PTX. A thread issues copies, closes them into a
group with `commit`, and later waits for its groups, which complete in order. What other threads copied is visible only
after a barrier as well (PTX ISA, "Data Movement and Conversion Instructions: cp.async").

`src` and `dst` are float32 arrays, indices count elements in memory order. `valid` is the number of elements to read:
the rest of the destination is filled with zeros, and with 0 nothing is read at all.
"""

from llvmlite import ir
from numba.core import types
from numba.cuda.extending import intrinsic

_I32, _I64, _VOID = ir.IntType(32), ir.IntType(64), ir.VoidType()
_ITEM_BYTES = 4


def _shared_address(context, builder, array_type, array, index_type, index):
    """Return the 32-bit address, within shared memory, of element `index` of a shared array."""
    data = context.make_array(array_type)(context, builder, array).data
    wide = context.cast(builder, index, index_type, types.uint64)
    pointer = builder.addrspacecast(builder.gep(data, [wide], inbounds=True), ir.PointerType(ir.FloatType(), 3))
    return builder.ptrtoint(pointer, _I32)


def _global_address(context, builder, array_type, array, index_type, index):
    """Return the 64-bit global address of element `index` of an array."""
    data = context.make_array(array_type)(context, builder, array).data
    wide = context.cast(builder, index, index_type, types.uint64)
    pointer = builder.addrspacecast(builder.gep(data, [wide]), ir.PointerType(ir.FloatType(), 1))
    return builder.ptrtoint(pointer, _I64)


def _copy(mnemonic: str, bytes_: int):
    def codegen(context, builder, signature, args):
        dst_type, put_type, src_type, get_type, valid_type = signature.args
        to = _shared_address(context, builder, dst_type, args[0], put_type, args[1])
        source = _global_address(context, builder, src_type, args[2], get_type, args[3])
        valid = context.cast(builder, args[4], valid_type, types.uint32)
        size = builder.mul(valid, ir.Constant(_I32, _ITEM_BYTES))
        text = f"{mnemonic} [$0], [$1], {bytes_}, $2;"
        function = ir.FunctionType(_VOID, [_I32, _I64, _I32])
        builder.asm(function, text, "r,l,r,~{memory}", [to, source, size], True)
        return context.get_dummy_value()

    return codegen


def _require(dst, put, src, get, valid):
    for array in (dst, src):
        if not (isinstance(array, types.Array) and array.dtype == types.float32):
            raise TypeError(f"cp.async needs float32 arrays here, got {array}")
    for index in (put, get, valid):
        if not isinstance(index, types.Integer):
            raise TypeError(f"cp.async needs integer indices, got {index}")


@intrinsic
def copy_async4(typingctx, dst, put, src, get, valid):
    """Start copying one float32, src[get] to dst[put]; zero instead when `valid` is 0."""
    _require(dst, put, src, get, valid)
    return types.void(dst, put, src, get, valid), _copy("cp.async.ca.shared.global", 4)


@intrinsic
def copy_async16(typingctx, dst, put, src, get, valid):
    """Start copying four float32 past L1 (.cg); both addresses must be multiples of 16 bytes."""
    _require(dst, put, src, get, valid)
    return types.void(dst, put, src, get, valid), _copy("cp.async.cg.shared.global", 16)


def _statement(text: str):
    def codegen(context, builder, signature, args):
        builder.asm(ir.FunctionType(_VOID, []), text, "~{memory}", [], True)
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def commit(typingctx):
    """Close this thread's copies since the last commit into one group."""
    return _statement("cp.async.commit_group;")


@intrinsic
def wait_all(typingctx):
    """Wait until all groups of this thread are complete."""
    return _statement("cp.async.wait_group 0;")


@intrinsic
def wait_all_but_one(typingctx):
    """Wait until all groups of this thread but the youngest are complete."""
    return _statement("cp.async.wait_group 1;")
