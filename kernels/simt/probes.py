"""What the measuring kernels of chapter 01 need and Numba has no name for: clock, SM number, addresses, plain loads.

Each is one PTX instruction, written inline and marked volatile, so that the compiler neither drops nor reorders it.
`follow` is why the pointer chase needs no CUDA C++: array indexing would add address arithmetic to every step.
"""

from llvmlite import ir
from numba.core import types
from numba.cuda.extending import intrinsic

_I32, _I64 = ir.IntType(32), ir.IntType(64)


def _read(text: str, result, width, operand: str = ""):
    """Return a code generator for one instruction with a result of `width` and at most one operand."""
    code = "l" if width is _I64 else "r"

    def codegen(context, builder, signature, args):
        kinds = [value.type for value in args]
        constraints = f"={code}{operand},~{{memory}}"
        return builder.asm(ir.FunctionType(width, kinds), text, constraints, args, True)

    return result, codegen


@intrinsic
def clock64(typingctx):
    """Return the SM's cycle counter (PTX %clock64)."""
    signature, codegen = _read("mov.u64 $0, %clock64;", types.uint64(), _I64)
    return signature, codegen


@intrinsic
def smid(typingctx):
    """Return the number of the SM that this thread runs on (PTX %smid)."""
    signature, codegen = _read("mov.u32 $0, %smid;", types.uint32(), _I32)
    return signature, codegen


def _address(space: str):
    """Return a code generator for the address of element `index` of an array in "global" or "shared" memory."""

    def codegen(context, builder, signature, args):
        array_type, index_type = signature.args
        data = context.make_array(array_type)(context, builder, args[0]).data
        wide = context.cast(builder, args[1], index_type, types.uint64)
        generic = builder.ptrtoint(builder.gep(data, [wide]), _I64)
        text = f"cvta.to.{space}.u64 $0, $1;"
        return builder.asm(ir.FunctionType(_I64, [_I64]), text, "=l,l", [generic], True)

    return codegen


@intrinsic
def global_address(typingctx, array, index):
    """Return the global address of element `index` of an array as uint64."""
    return types.uint64(array, index), _address("global")


@intrinsic
def shared_address(typingctx, array, index):
    """Return the address within shared memory of element `index` of a shared array as uint64."""
    return types.uint64(array, index), _address("shared")


@intrinsic
def follow(typingctx, address):
    """Load the uint64 at a global address."""
    return types.uint64(types.uint64), _read("ld.global.u64 $0, [$1];", None, _I64, ",l")[1]


@intrinsic
def follow_shared(typingctx, address):
    """Load the uint64 at an address within shared memory."""
    return types.uint64(types.uint64), _read("ld.shared.u64 $0, [$1];", None, _I64, ",l")[1]
