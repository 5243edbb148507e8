"""Native code through llvmlite (which Numba brings): LLVM IR text in, callable segments out."""

from __future__ import annotations

import ctypes
import functools

import llvmlite.binding as llvm

_OPAQUE = llvm.llvm_version_info[0] >= 15
LARGE = 60_000  # characters of LLVM IR above which optimising takes longer than it saves
_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)


def POINTER(kind):
    """LLVM's spelling of a pointer to ``kind``: opaque since LLVM 15."""
    return "ptr" if _OPAQUE else kind + "*"


@functools.lru_cache(maxsize=1)
def _host():
    """(target, CPU name, features) of this machine."""
    for start in ("initialize_native_target", "initialize_native_asmprinter"):
        try:
            getattr(llvm, start)()
        except RuntimeError:  # newer versions initialise themselves
            pass
    return llvm.Target.from_default_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


class Native:
    """Compiled segments; ``functions[i](ctx, lanes, n)`` with addresses as ints."""

    def __init__(self, text, names):
        target, cpu, features = _host()
        # The engine will own the target machine: make one for each.
        machine = target.create_target_machine(cpu=cpu, features=features, opt=int(len(text) < LARGE), jit=True)
        self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
        self.engine.finalize_object()
        self.functions = {index: _FUNCTION(self.engine.get_function_address(name)) for index, name in names.items()}


# @fault records (site, lane, address); @lookup finds the live allocation that holds an access and remembers it for the
# site.
RUNTIME = """
define i1 @fault(i64 %ctx, i64 %site, i64 %lane, i64 %address) noinline cold {{
  %count.a = add i64 %ctx, {n_faults}
  %count.p = inttoptr i64 %count.a to {i64p}
  %n = load i64, {i64p} %count.p
  %n1 = add i64 %n, 1
  store i64 %n1, {i64p} %count.p
  %room = icmp ult i64 %n, {max_faults}
  br i1 %room, label %keep, label %done
keep:
  %table.a = add i64 %ctx, {faults}
  %table.p = inttoptr i64 %table.a to {i64p}
  %table = load i64, {i64p} %table.p
  %row = mul i64 %n, 24
  %a0 = add i64 %table, %row
  %a1 = add i64 %a0, 8
  %a2 = add i64 %a0, 16
  %p0 = inttoptr i64 %a0 to {i64p}
  %p1 = inttoptr i64 %a1 to {i64p}
  %p2 = inttoptr i64 %a2 to {i64p}
  store i64 %site, {i64p} %p0
  store i64 %lane, {i64p} %p1
  store i64 %address, {i64p} %p2
  br label %done
done:
  ret i1 false
}}
define i1 @lookup(i64 %ctx, i64 %site, i64 %lane, i64 %address, i64 %nbytes) noinline {{
entry:
  %table.a = add i64 %ctx, {allocations}
  %table.p = inttoptr i64 %table.a to {i64p}
  %table = load i64, {i64p} %table.p
  %n.a = add i64 %ctx, {n_allocations}
  %n.p = inttoptr i64 %n.a to {i64p}
  %n = load i64, {i64p} %n.p
  %some = icmp ugt i64 %n, 0
  br i1 %some, label %loop, label %bad
loop:
  %i = phi i64 [ 0, %entry ], [ %i1, %more ]
  %row = shl i64 %i, 4
  %start.a = add i64 %table, %row
  %end.a = add i64 %start.a, 8
  %start.p = inttoptr i64 %start.a to {i64p}
  %end.p = inttoptr i64 %end.a to {i64p}
  %start = load i64, {i64p} %start.p
  %end = load i64, {i64p} %end.p
  %after = add i64 %address, %nbytes
  %low = icmp uge i64 %address, %start
  %high = icmp ule i64 %after, %end
  %inside = and i1 %low, %high
  br i1 %inside, label %found, label %more
more:
  %i1 = add i64 %i, 1
  %again = icmp ult i64 %i1, %n
  br i1 %again, label %loop, label %bad
found:
  %mask = sub i64 %nbytes, 1
  %rest = and i64 %address, %mask
  %aligned = icmp eq i64 %rest, 0
  br i1 %aligned, label %good, label %bad
good:
  %cache.a = add i64 %ctx, {cache}
  %cache.p = inttoptr i64 %cache.a to {i64p}
  %cache = load i64, {i64p} %cache.p
  %site.row = shl i64 %site, 4
  %lo.a = add i64 %cache, %site.row
  %span.a = add i64 %lo.a, 8
  %lo.p = inttoptr i64 %lo.a to {i64p}
  %span.p = inttoptr i64 %span.a to {i64p}
  store i64 %start, {i64p} %lo.p
  %size = sub i64 %end, %start
  %span = sub i64 %size, %nbytes
  store i64 %span, {i64p} %span.p
  ret i1 true
bad:
  %r = call i1 @fault(i64 %ctx, i64 %site, i64 %lane, i64 %address)
  ret i1 %r
}}
!0 = !{{!"branch_weights", i32 1, i32 1000}}
"""


def runtime(fields, max_faults):
    """The text of the functions that every module contains; ``fields``: ctx field name to index."""
    names = ("n_faults", "faults", "allocations", "n_allocations", "cache")
    return RUNTIME.format(i64p=POINTER("i64"), max_faults=max_faults, **{name: 8 * fields[name] for name in names})
