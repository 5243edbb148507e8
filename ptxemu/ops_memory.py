"""Loads, stores and atomics (PTX ISA 9.7.9 and 9.7.13). Lanes run one after the other, so an atomic is a load, an
operation and a store.
"""

from __future__ import annotations

from .ir import BITS, SINK, Symbol, Vector
from .ops_float import flush
from .ops_half import from_f32, to_f32
from .ops_minmax import select_min_max
from .registry import native
from .segments import memory_facts

_IGNORED = {
    "volatile",
    "relaxed",
    "acquire",
    "release",
    "acq_rel",
    "sc",
    "weak",
    "cta",
    "cluster",
    "gpu",
    "sys",
    "global",
    "shared",
    "shared::cta",
    "shared::cluster",
    "local",
    "const",
    "param",
    "param::entry",
    "param::func",
    "generic",
    "nc",
    "ca",
    "cg",
    "cs",
    "lu",
    "cv",
    "wb",
    "wt",
    "v2",
    "v4",
    "v8",
    "mmio",
    "L1::evict_normal",
    "L1::evict_unchanged",
    "L1::evict_first",
    "L1::evict_last",
    "L1::no_allocate",
    "L2::evict_first",
    "L2::evict_last",
    "L2::evict_normal",
    "L2::cache_hint",
    "L2::64B",
    "L2::128B",
    "L2::256B",
    "noftz",
    "unified",
}


def _items(operand):
    return operand.items if isinstance(operand, Vector) else (operand,)


def _element(kind):
    """Type that carries an element in a load or store: raw bits of the same width."""
    return f"i{BITS[kind]}" if kind not in ("f32", "f64") else {"f32": "float", "f64": "double"}[kind]


@native("ld", "ldu")
def load(e, ins, site):
    e.allow(*_IGNORED)
    kind = ins.mods[-1]
    space, _, width, vec, _, _ = memory_facts(ins)
    items = _items(ins.operands[0])
    address = ins.operands[1]
    host, active = _host(e, space, address, width * vec, site)
    element = _element(kind)
    for k, item in enumerate(items):
        if item is SINK:
            continue
        value = e.load(element, host, k * width)
        if active is not None and space != "param":
            value = _poison(e, value, element, active)
        e.dst(item, kind, value)


def _poison(e, value, element, active):
    """A load that was refused gives all ones (a NaN)."""
    ones = {"float": "bitcast (i32 -1 to float)", "double": "bitcast (i64 -1 to double)"}.get(element, "-1")
    return e.op(f"select i1 {active}, {element} {value}, {element} {ones}")


def _host(e, space, address, nbytes, site):
    """(host address, active) of an access; param variables need no check."""
    base = address.base
    if space in ("param", "local") and isinstance(base, Symbol) and base.name in e.program.local_offsets:
        offset = e.program.local_offsets[base.name] + base.offset + address.offset
        host = e.op(f"add i64 {e.local_base()}, {offset}")
        if space == "local" and e.observe:
            e.record(str(offset), e.guard or "true", site)
        if e.guard is None:
            return host, None
        return e.op(f"select i1 {e.guard}, i64 {host}, i64 {e.ctx('pad')}"), None
    if space == "param" and isinstance(base, Symbol):
        offset = e.program.param_offsets[base.name] + base.offset + address.offset
        return e.hoist(("param", offset), f"add i64 {e.ctx('params')}, {offset}"), None
    space = {"const": "global", "param": "global"}.get(space, space)
    return e.pointer(space, e.address(address), nbytes, site)


@native("st")
def store(e, ins, site):
    e.allow(*_IGNORED)
    kind = ins.mods[-1]
    space, _, width, vec, _, _ = memory_facts(ins)
    host, _ = _host(e, space, ins.operands[0], width * vec, site)
    element = _element(kind)
    values = [e.src(item, kind) for item in _items(ins.operands[1])]
    if e.observe and space not in ("param", "local"):
        same = "true"
        for k, value in enumerate(values):
            bits = value if element[0] == "i" else e.op(f"bitcast {element} {value} to i{BITS[kind]}")
            old = e.load(f"i{BITS[kind]}", host, k * width)
            same = e.op(f"and i1 {same}, {e.op(f'icmp eq i{BITS[kind]} {old}, {bits}')}")
        e.record_same(same)
    for k, value in enumerate(values):
        e.store(element, value, host, k * width)


@native("atom", "red")
def atomic(e, ins, site):
    operations = {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"}
    e.allow(*_IGNORED, *operations)
    kind = ins.mods[-1]
    name = next((m for m in ins.mods if m in operations), None)
    if name is None:
        e.unsupported()
    space, _, width, vec, _, _ = memory_facts(ins)
    returns = ins.op == "atom"
    operands = ins.operands[1:] if returns else ins.operands
    host, active = _host(e, space, operands[0], width * vec, site)
    element = _element(kind)
    results = _items(ins.operands[0]) if returns else ()
    values = [_items(o) for o in operands[1:]]
    arity = 2 if name == "cas" else 1
    olds = []
    for k in range(vec):
        old = e.load(element, host, k * width)
        arguments = [e.src(v[k], kind) for v in values[:arity]]
        if name == "add" and kind == "f32" and space != "shared":
            # PTX ISA, atom: .add.f32 flushes subnormal inputs and results in global memory, not in shared
            old_value, arguments = flush(e, old), [flush(e, a) for a in arguments]
            e.store(element, flush(e, _combine(e, name, kind, element, old_value, arguments)), host, k * width)
            olds.append(old)
            continue
        e.store(element, _combine(e, name, kind, element, old, arguments), host, k * width)
        olds.append(old)
    for item, old in zip(results, olds, strict=False):
        if item is not SINK:
            e.dst(item, kind, _poison(e, old, element, active))


def _combine(e, name, kind, element, old, values):
    a = values[0]
    if name == "exch":
        return a
    if name == "cas":
        equal = e.op(f"icmp eq {element} {old}, {a}")
        return e.op(f"select i1 {equal}, {element} {values[1]}, {element} {old}")
    if name in ("and", "or", "xor"):
        return e.op(f"{name} {element} {old}, {a}")
    if name == "inc":
        wrap = e.op(f"icmp uge {element} {old}, {a}")
        return e.op(f"select i1 {wrap}, {element} 0, {element} {e.op(f'add {element} {old}, 1')}")
    if name == "dec":
        zero, over = e.op(f"icmp eq {element} {old}, 0"), e.op(f"icmp ugt {element} {old}, {a}")
        wrap = e.op(f"or i1 {zero}, {over}")
        return e.op(f"select i1 {wrap}, {element} {a}, {element} {e.op(f'sub {element} {old}, 1')}")
    if kind in ("f16x2", "bf16x2"):
        return _packed(e, name, kind[:-2], old, a)
    if kind in ("f16", "bf16"):
        return _half(e, name, kind, old, a)
    if kind in ("f32", "f64"):
        if name != "add":
            return select_min_max(e, name, kind, old, a, False)
        return e.op(f"fadd {element} {old}, {a}")
    if name == "add":
        return e.op(f"add {element} {old}, {a}")
    return e.call(f"llvm.{'s' if kind[0] == 's' else 'u'}{name}.{element}", element, (element, old), (element, a))


def _half(e, name, kind, old, a):
    x, y = to_f32(e, old, kind), to_f32(e, a, kind)
    value = e.op(f"fadd float {x}, {y}") if name == "add" else select_min_max(e, name, "f32", x, y, False)
    return from_f32(e, value, kind)


def _packed(e, name, kind, old, a):
    halves = []
    for shift in (0, 16):
        parts = [e.op(f"trunc i32 {e.op(f'lshr i32 {v}, {shift}')} to i16") for v in (old, a)]
        halves.append(e.op(f"zext i16 {_half(e, name, kind, *parts)} to i32"))
    return e.op(f"or i32 {halves[0]}, {e.op(f'shl i32 {halves[1]}, 16')}")
