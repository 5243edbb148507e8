"""Segments to LLVM IR text: one function per segment that loops over the lanes of a group.

Inside a segment registers are SSA values; registers that live across segments stand in a register file, one row per register and one
column per lane. A row is ``CAPACITY`` elements plus one cache line, so that a lane's registers do not fall into one cache set.
``fn(ctx, lanes, n) -> count``: ``ctx`` is the address of an int64 table (``CTX`` names its fields), ``lanes`` that of int32 lane numbers, and
``count`` how many lanes take the branch at the end; which ones stands in the byte table ``taken``.
"""

from __future__ import annotations

import struct

from .errors import PtxError
from .ir import BITS, SINK, Address, Float, Int, Not, Reg, Special, Symbol
from .llvm import POINTER
from .ops import NATIVE
from .windows import LOCAL_WINDOW, SHARED_WINDOW, WINDOW_SIZE

CTX = {name: i for i, name in enumerate((
    "registers", "global_delta", "lane_shared", "shared_size", "local", "taken", "seen", "same", "cache", "params", "allocations",
    "n_allocations", "faults", "n_faults", "pad", "lane_special", "launch", "clock", "index", "guards",
))}
LANE_SPECIAL = ("tid.x", "tid.y", "tid.z", "ctaid.x", "ctaid.y", "ctaid.z", "tid.w", "ctaid.w", "smid")  # int32 rows of the lane table
LAUNCH_SPECIAL = ("ntid.x", "ntid.y", "ntid.z", "nctaid.x", "nctaid.y", "nctaid.z", "nsmid", "dynamic_smem_size", "total_smem_size", "nwarpid")
SEEN_LANES = 2048  # lanes that one call may run when addresses are recorded
MAX_FAULTS = 4096


def llvm_type(kind):
    """LLVM type that carries a PTX type; 16-bit floats and packed types travel as integers."""
    return {"f32": "float", "f64": "double", "pred": "i1"}.get(kind, f"i{BITS[kind]}")


class Emitter:
    """Writes one segment's function. Handlers in the ``ops_*`` files use ``src``, ``dst``, ``op`` and the memory methods."""

    def __init__(self, unit, segment):
        self.unit, self.program, self.segment = unit, unit.program, segment
        self.observe = unit.observe
        self.entry_lines, self.lines = [], []
        self.values = {}  # (Reg, "i" | "f") -> SSA name
        self.defined = {}  # registers written in this segment
        self.temps = 0
        self.hoisted = {}
        self.block = "loop"
        self.guard = None
        self.seen_sites, self.guarded_sites = [], []
        self.ins = None

    # plain emission

    def temp(self):
        self.temps += 1
        return f"%t{self.temps}"

    def op(self, text):
        """Emit ``text`` as the definition of a new SSA name."""
        name = self.temp()
        self.lines.append(f"{name} = {text}")
        return name

    def emit(self, text):
        self.lines.append(text)

    def unsupported(self, what=None):
        ins = self.ins
        raise PtxError(f"{self.program.where(ins)}: {what or repr(ins.opcode)} is not supported by ptxemu; "
                       f"run this kernel on a GPU of {self.program.module.target} or avoid the instruction")

    def allow(self, *mods):
        """Refuse modifiers (the last one is the type) that the handler does not know."""
        for mod in self.ins.mods[:-1]:
            if mod not in mods:
                self.unsupported(f"{self.ins.opcode!r} (modifier .{mod})")

    def hoist(self, key, text):
        """Define a value once, before the loop over lanes."""
        if key not in self.hoisted:
            name = f"%h{len(self.hoisted)}"
            self.entry_lines.append(f"{name} = {text}")
            self.hoisted[key] = name
        return self.hoisted[key]

    def ctx(self, field):
        """Value of a ctx field, read before the loop."""
        if field in self.hoisted:
            return self.hoisted[field]
        address = self.hoist(("ctx address", field), f"add i64 %ctx, {8 * CTX[field]}")
        pointer = self.hoist(("ctx pointer", field), f"inttoptr i64 {address} to {POINTER('i64')}")
        return self.hoist(field, f"load i64, {POINTER('i64')} {pointer}")

    def call(self, name, result, *arguments):
        """Call an LLVM intrinsic or a function of the C library: arguments are (type, value) pairs."""
        self.unit.declare(f"declare {result} @{name}({', '.join(t for t, _ in arguments)})")
        return self.op(f"call {result} @{name}({', '.join(f'{t} {v}' for t, v in arguments)})")

    def helper(self, name, result, *arguments):
        """Call a helper of ptxemu/helpers.py by its address."""
        kinds = ", ".join(t for t, _ in arguments)
        address = self.unit.helper(name)
        pointer = "ptr" if POINTER("i8") == "ptr" else f"{result} ({kinds})*"
        target = self.op(f"inttoptr i64 {address} to {pointer}")
        return self.op(f"call {result} {target}({', '.join(f'{t} {v}' for t, v in arguments)})")

    # values

    def constant(self, operand, kind):
        if isinstance(operand, Int):
            if kind == "f32":
                return f"bitcast (i32 {_signed(struct.unpack('<i', struct.pack('<f', operand.value))[0], 32)} to float)"
            if kind == "f64":
                return f"bitcast (i64 {struct.unpack('<q', struct.pack('<d', operand.value))[0]} to double)"
            if kind == "pred":
                return "true" if operand.value else "false"
            return str(_signed(operand.value, BITS[kind]))
        value, width = operand.value, operand.width
        if width == 0:
            value = struct.unpack("<q", struct.pack("<d", value))[0]
            width = 64
        if BITS[kind] == 32 and width == 64:
            value, width = struct.unpack("<i", struct.pack("<f", struct.unpack("<d", struct.pack("<Q", value & (1 << 64) - 1))[0]))[0], 32
        elif BITS[kind] == 64 and width == 32:
            value = struct.unpack("<q", struct.pack("<d", struct.unpack("<f", struct.pack("<I", value))[0]))[0]
        bits = _signed(value, BITS[kind])
        kind_l = llvm_type(kind)
        return f"bitcast (i{BITS[kind]} {bits} to {kind_l})" if kind_l in ("float", "double") else str(bits)

    def src(self, operand, kind):
        """SSA name or constant of an operand read as ``kind``."""
        if isinstance(operand, Reg):
            return self._read(operand, kind)
        if isinstance(operand, (Int, Float)):
            return self.constant(operand, kind)
        if isinstance(operand, Not):
            return self.op(f"xor i1 {self.src(operand.reg, 'pred')}, true")
        if isinstance(operand, Special):
            value, bits = self.special(operand.name)
            return self.fit(value, bits, BITS[kind], False) if kind not in ("f32", "f64") else self.unsupported()
        if isinstance(operand, Symbol):
            return str(self.symbol(operand))
        return self.unsupported(f"operand of {self.ins.opcode!r}")

    def fit(self, value, have, want, signed):
        """Truncate or extend an integer value."""
        if have == want:
            return value
        if have > want:
            return self.op(f"trunc i{have} {value} to i{want}")
        return self.op(f"{'sext' if signed else 'zext'} i{have} {value} to i{want}")

    def _read(self, reg, kind):
        want = llvm_type(kind)
        is_float = want in ("float", "double")
        if is_float and reg.bits == BITS[kind]:
            found = self.values.get((reg, "f"))
            if found is None:
                integer = self._integer(reg)
                found = self.values[(reg, "f")] = self.op(f"bitcast i{reg.bits} {integer} to {want}")
            return found
        value = self._integer(reg)
        value = self.fit(value, reg.bits, BITS[kind], False)
        return self.op(f"bitcast i{BITS[kind]} {value} to {want}") if is_float else value

    def _integer(self, reg):
        found = self.values.get((reg, "i"))
        if found is None:
            as_float = self.values.get((reg, "f"))
            if as_float is not None:
                found = self.op(f"bitcast {'float' if reg.bits == 32 else 'double'} {as_float} to i{reg.bits}")
            else:
                found = self.load_register(reg)
            self.values[(reg, "i")] = found
        return found

    def load_register(self, reg):
        pointer = self.register_pointer(reg)
        if reg.bits == 1:
            byte = self.op(f"load i8, {POINTER('i8')} {pointer}")
            return self.op(f"trunc i8 {byte} to i1")
        return self.op(f"load i{reg.bits}, {POINTER(f'i{reg.bits}')} {pointer}")

    def register_pointer(self, reg):
        offset, size = self.unit.slot(reg)
        address = self.op(f"add i64 %lane{size}, {offset}")
        kind = "i8" if reg.bits == 1 else f"i{reg.bits}"
        return self.op(f"inttoptr i64 {address} to {POINTER(kind)}")

    def dst(self, operand, kind, value, signed=None):
        """Write an SSA value of type ``kind`` to a destination register, under the instruction's guard."""
        if operand is SINK:
            return
        if not isinstance(operand, Reg):
            self.unsupported(f"destination of {self.ins.opcode!r}")
        reg, carrier = operand, llvm_type(kind)
        is_float = carrier in ("float", "double")
        if reg.bits != BITS[kind]:
            if is_float:
                value, is_float = self.op(f"bitcast {carrier} {value} to i{BITS[kind]}"), False
            if signed is None:
                signed = kind[0] == "s"
            value = self.fit(value, BITS[kind], reg.bits, signed)
            carrier = f"i{reg.bits}"
        if self.guard is not None:
            old = self._read(reg, kind) if is_float else self._integer(reg)
            value = self.op(f"select i1 {self.guard}, {carrier} {value}, {carrier} {old}")
        self.values.pop((reg, "i"), None)
        self.values.pop((reg, "f"), None)
        self.values[(reg, "f" if is_float else "i")] = value
        self.defined[reg] = None

    # addresses and special registers

    def symbol(self, operand):
        """Address of a variable in its own state space."""
        name, program = operand.name, self.program
        for table in (program.local_offsets, program.shared_offsets):
            if name in table:
                return table[name] + operand.offset
        if name in program.param_offsets:
            return self.unit.param_address + program.param_offsets[name] + operand.offset
        address = self.unit.module_addresses.get(name)
        if address is None:
            self.unsupported(f"symbol {name}")
        return address + operand.offset

    def special(self, name):
        """(value, bits) of a special register."""
        if name in LANE_SPECIAL:
            table = self.ctx("lane_special")
            row = LANE_SPECIAL.index(name) * self.unit.capacity * 4
            address = self.op(f"add i64 {self.op(f'add i64 {table}, {row}')}, %lane.offset")
            pointer = self.op(f"inttoptr i64 {address} to {POINTER('i32')}")
            return self.op(f"load i32, {POINTER('i32')} {pointer}"), 32
        if name in LAUNCH_SPECIAL:
            address = self.hoist(("launch", name), f"add i64 {self.ctx('launch')}, {4 * LAUNCH_SPECIAL.index(name)}")
            pointer = self.hoist(("launch pointer", name), f"inttoptr i64 {address} to {POINTER('i32')}")
            return self.hoist(("launch value", name), f"load i32, {POINTER('i32')} {pointer}"), 32
        lane = "%lane"
        laneid = self.op(f"and i32 {lane}, 31")
        if name == "laneid":
            return laneid, 32
        if name == "warpid":
            first = self.op(f"load i32, {POINTER('i32')} {self._lane_row('tid.linear')}")
            return self.op(f"lshr i32 {first}, 5"), 32
        if name.startswith("lanemask_"):
            one = self.op(f"shl i32 1, {laneid}")
            below = self.op(f"sub i32 {one}, 1")
            return {
                "eq": lambda: one, "lt": lambda: below, "le": lambda: self.op(f"or i32 {one}, {below}"),
                "ge": lambda: self.op(f"xor i32 {below}, -1"), "gt": lambda: self.op(f"xor i32 {self.op(f'or i32 {one}, {below}')}, -1"),
            }[name[9:]](), 32
        if name in ("clock64", "globaltimer"):
            return self._clock(), 64
        if name in ("clock", "globaltimer_lo"):
            return self.op(f"trunc i64 {self._clock()} to i32"), 32
        if name in ("clock_hi", "globaltimer_hi"):
            return self.op(f"trunc i64 {self.op(f'lshr i64 {self._clock()}, 32')} to i32"), 32
        constant = {"gridid": (0, 64), "ntid.w": (1, 32), "nctaid.w": (1, 32), "is_explicit_cluster": (0, 1)}.get(name)
        if constant is not None:
            return str(constant[0]) if constant[1] > 1 else "false", constant[1]
        if name.startswith("cluster_n") or name in ("nclusterid.x", "nclusterid.y", "nclusterid.z"):
            return (self.special("nctaid." + name[-1]) if name.startswith("ncl") else ("1", 32))
        if name.startswith("clusterid."):
            return self.special("ctaid." + name[-1])
        if name.startswith("cluster_ctaid.") or name == "cluster_ctarank":
            return "0", 32
        return self.unsupported(f"special register %{name}")

    def _lane_row(self, name):
        row = len(LANE_SPECIAL) * self.unit.capacity * 4
        table = self.op(f"add i64 {self.ctx('lane_special')}, {row}")
        address = self.op(f"add i64 {table}, %lane.offset")
        return self.op(f"inttoptr i64 {address} to {POINTER('i32')}")

    def _clock(self):
        pointer = self.hoist("clock pointer", f"inttoptr i64 {self.ctx('clock')} to {POINTER('i64')}")
        now = self.op(f"load i64, {POINTER('i64')} {pointer}")
        later = self.op(f"add i64 {now}, 1")
        self.emit(f"store i64 {later}, {POINTER('i64')} {pointer}")
        return now

    # memory

    def address(self, operand):
        """i64 value of an address operand."""
        if not isinstance(operand, Address):
            self.unsupported(f"operand of {self.ins.opcode!r}")
        base = operand.base
        if isinstance(base, Symbol):
            return str(self.symbol(base) + operand.offset)
        if isinstance(base, Int):
            return str(base.value + operand.offset)
        value = self._integer(base)
        if base.bits == 32:
            if operand.offset:
                value = self.op(f"add i32 {value}, {_signed(operand.offset, 32)}")
            return self.op(f"zext i32 {value} to i64")
        return self.op(f"add i64 {value}, {operand.offset}") if operand.offset else value

    def pointer(self, space, address, nbytes, site):
        """Check an access of ``nbytes``; return (host address i64, active i1). Inactive lanes point at a scratch pad."""
        guard = self.guard
        if space == "global":
            host, good = self._global(address, nbytes, site)
        elif space == "shared":
            host, good = self._shared(address, nbytes, site)
        elif space == "local":
            host, good = self._local(address, nbytes, site)
        else:
            host, good = self._generic(address, nbytes, site)
        active = good if guard is None else self.op(f"and i1 {guard}, {good}")
        if self.observe and space != "param":
            self.record(address, active, site)
        return self.op(f"select i1 {active}, i64 {host}, i64 {self.ctx('pad')}"), active

    def _aligned(self, address, nbytes):
        low = self.op(f"and i64 {address}, {nbytes - 1}")
        return self.op(f"icmp eq i64 {low}, 0")

    def _slow(self, good, call):
        """Where ``good`` fails under the guard, run ``call`` (which reports a fault) and take its verdict."""
        bad = self.op(f"xor i1 {good}, true")
        if self.guard is not None:
            bad = self.op(f"and i1 {bad}, {self.guard}")
        self.temps += 1
        slow, after, before = f"slow{self.temps}", f"after{self.temps}", self.block
        self.emit(f"br i1 {bad}, label %{slow}, label %{after}, !prof !0")
        self.emit(f"{slow}:")
        verdict = self.op(call)
        self.emit(f"br label %{after}")
        self.emit(f"{after}:")
        self.block = after
        return self.op(f"phi i1 [ {good}, %{before} ], [ {verdict}, %{slow} ]")

    def _global(self, address, nbytes, site):
        row = self.hoist(("cache", site), f"add i64 {self.ctx('cache')}, {16 * site}")
        low_p = self.hoist(("cache low", site), f"inttoptr i64 {row} to {POINTER('i64')}")
        row8 = self.hoist(("cache row 8", site), f"add i64 {row}, 8")
        span_p = self.hoist(("cache span", site), f"inttoptr i64 {row8} to {POINTER('i64')}")
        low = self.op(f"load i64, {POINTER('i64')} {low_p}")
        span = self.op(f"load i64, {POINTER('i64')} {span_p}")
        offset = self.op(f"sub i64 {address}, {low}")
        good = self.op(f"icmp ule i64 {offset}, {span}")
        if nbytes > 1:
            good = self.op(f"and i1 {good}, {self._aligned(address, nbytes)}")
        good = self._slow(good, f"call i1 @lookup(i64 %ctx, i64 {site}, i64 %lane64, i64 {address}, i64 {nbytes})")
        return self.op(f"add i64 {address}, {self.ctx('global_delta')}"), good

    def _shared(self, address, nbytes, site):
        size = self.ctx("shared_size")
        fits = self.hoist(("fits", nbytes), f"icmp uge i64 {size}, {nbytes}")
        less = self.hoist(("less", nbytes), f"sub i64 {size}, {nbytes - 1}")
        limit = self.hoist(("limit", nbytes), f"select i1 {fits}, i64 {less}, i64 0")
        good = self.op(f"icmp ult i64 {address}, {limit}")
        if nbytes > 1:
            good = self.op(f"and i1 {good}, {self._aligned(address, nbytes)}")
        good = self._slow(good, f"call i1 @fault(i64 %ctx, i64 {site}, i64 %lane64, i64 {address})")
        return self.op(f"add i64 {address}, {self.shared_base()}"), good

    def shared_base(self):
        """Host address of the lane's CTA's shared memory."""
        found = self.values.get("shared base")
        if found is None:
            address = self.op(f"add i64 {self.ctx('lane_shared')}, {self.lane_offset8()}")
            pointer = self.op(f"inttoptr i64 {address} to {POINTER('i64')}")
            found = self.values["shared base"] = self.op(f"load i64, {POINTER('i64')} {pointer}")
        return found

    def lane_offset8(self):
        return "%lane.offset8"

    def _local(self, address, nbytes, site):
        size = self.program.local_size
        good = self.op(f"icmp ult i64 {address}, {max(size - nbytes + 1, 0)}")
        if nbytes > 1:
            good = self.op(f"and i1 {good}, {self._aligned(address, nbytes)}")
        good = self._slow(good, f"call i1 @fault(i64 %ctx, i64 {site}, i64 %lane64, i64 {address})")
        return self.op(f"add i64 {address}, {self.local_base()}"), good

    def local_base(self):
        found = self.values.get("local base")
        if found is None:
            offset = self.op(f"mul i64 %lane64, {self.program.local_size}")
            found = self.values["local base"] = self.op(f"add i64 {self.ctx('local')}, {offset}")
        return found

    def _generic(self, address, nbytes, site):
        """Choose by window; a shared or local window address is checked as such."""
        shared_offset = self.op(f"sub i64 {address}, {SHARED_WINDOW}")
        in_shared = self.op(f"icmp ult i64 {shared_offset}, {WINDOW_SIZE}")
        local_offset = self.op(f"sub i64 {address}, {LOCAL_WINDOW}")
        in_local = self.op(f"icmp ult i64 {local_offset}, {WINDOW_SIZE}")
        host_g, host_s = self.temp(), self.temp()
        size = self.ctx("shared_size")
        end = self.op(f"add i64 {shared_offset}, {nbytes}")
        local_end = self.op(f"add i64 {local_offset}, {nbytes}")
        ok_s = self.op(f"and i1 {in_shared}, {self.op(f'icmp ule i64 {end}, {size}')}")
        ok_l = self.op(f"and i1 {in_local}, {self.op(f'icmp ule i64 {local_end}, {self.program.local_size}')}")
        either = self.op(f"or i1 {ok_s}, {ok_l}")
        if nbytes > 1:
            either = self.op(f"and i1 {either}, {self._aligned(address, nbytes)}")
        good = self._slow(either, f"call i1 @lookup(i64 %ctx, i64 {site}, i64 %lane64, i64 {address}, i64 {nbytes})")
        self.emit(f"{host_g} = add i64 {address}, {self.ctx('global_delta')}")
        self.emit(f"{host_s} = add i64 {shared_offset}, {self.shared_base()}")
        host_l = self.op(f"add i64 {local_offset}, {self.local_base()}")
        host = self.op(f"select i1 {in_shared}, i64 {host_s}, i64 {host_g}")
        return self.op(f"select i1 {in_local}, i64 {host_l}, i64 {host}"), good

    def record(self, address, active, site):
        """Store the address (-1 where the lane does not access) for the observer."""
        row = len(self.seen_sites)
        self.seen_sites.append(site)
        value = self.op(f"select i1 {active}, i64 {address}, i64 -1")
        base = self.hoist(("seen row", row), f"add i64 {self.ctx('seen')}, {8 * SEEN_LANES * row}")
        pointer = self.op(f"inttoptr i64 {self.op(f'add i64 {base}, %i8')} to {POINTER('i64')}")
        self.emit(f"store i64 {value}, {POINTER('i64')} {pointer}")

    def record_same(self, same):
        """Store whether the store just recorded leaves memory as it is (i1)."""
        row = len(self.seen_sites) - 1
        base = self.hoist(("same row", row), f"add i64 {self.ctx('same')}, {SEEN_LANES * row}")
        pointer = self.op(f"inttoptr i64 {self.op(f'add i64 {base}, %i')} to {POINTER('i8')}")
        byte = self.op(f"zext i1 {same} to i8")
        self.emit(f"store i8 {byte}, {POINTER('i8')} {pointer}")

    def load(self, kind, host, offset=0, align=None):
        """Load an LLVM ``kind`` from a host address."""
        address = self.op(f"add i64 {host}, {offset}") if offset else host
        pointer = self.op(f"inttoptr i64 {address} to {POINTER(kind)}")
        return self.op(f"load {kind}, {POINTER(kind)} {pointer}" + (f", align {align}" if align else ""))

    def store(self, kind, value, host, offset=0, align=None):
        address = self.op(f"add i64 {host}, {offset}") if offset else host
        pointer = self.op(f"inttoptr i64 {address} to {POINTER(kind)}")
        self.emit(f"store {kind} {value}, {POINTER(kind)} {pointer}" + (f", align {align}" if align else ""))

    # the function

    def run(self):
        """Return the function's text."""
        count = "0"
        for ins, site in self.segment.instrs:
            self.ins, self.guard = ins, None
            if ins.guard is not None:
                reg, negated = ins.guard
                self.guard = self.src(reg, "pred")
                if negated:
                    self.guard = self.op(f"xor i1 {self.guard}, true")
            if (ins, site) == self.segment.end:
                count = self._terminator(ins)
                break
            handler = NATIVE.get(ins.op)
            if handler is None:
                self.unsupported()
            if self.observe and self.guard is not None and not self.program.sites[site].op:
                self._count_guard(site)
            handler(self, ins, site)
        for reg in self.defined:
            if self.segment.live_out >> self.program.numbers[reg] & 1:
                self._save(reg)
        return self._assemble(count)

    def _count_guard(self, site):
        """Count the lanes for which a guarded instruction is really executed."""
        self.guarded_sites.append(site)
        address = self.hoist(("guard", site), f"add i64 {self.ctx('guards')}, {8 * site}")
        pointer = self.hoist(("guard pointer", site), f"inttoptr i64 {address} to {POINTER('i64')}")
        before = self.op(f"load i64, {POINTER('i64')} {pointer}")
        one = self.op(f"zext i1 {self.guard} to i64")
        self.emit(f"store i64 {self.op(f'add i64 {before}, {one}')}, {POINTER('i64')} {pointer}")

    def _save(self, reg):
        as_float = self.values.get((reg, "f"))
        pointer_kind = "i8" if reg.bits == 1 else f"i{reg.bits}"
        value = self.values.get((reg, "i"))
        if value is None:
            value, pointer_kind = as_float, "float" if reg.bits == 32 else "double"
        elif reg.bits == 1:
            value = self.op(f"zext i1 {value} to i8")
        offset, size = self.unit.slot(reg)
        address = self.op(f"add i64 %lane{size}, {offset}")
        pointer = self.op(f"inttoptr i64 {address} to {POINTER(pointer_kind)}")
        self.emit(f"store {pointer_kind} {value}, {POINTER(pointer_kind)} {pointer}")

    def _terminator(self, ins):
        if ins.op == "brx":
            if self.guard is not None:
                self.unsupported("a guarded brx.idx")
            index = self.src(ins.operands[0], "u32")
            address = self.op(f"add i64 {self.ctx('index')}, %i4")
            pointer = self.op(f"inttoptr i64 {address} to {POINTER('i32')}")
            self.emit(f"store i32 {index}, {POINTER('i32')} {pointer}")
            return "0"
        if self.guard is None:
            return "0"
        address = self.op(f"add i64 {self.ctx('taken')}, %i")
        pointer = self.op(f"inttoptr i64 {address} to {POINTER('i8')}")
        byte = self.op(f"zext i1 {self.guard} to i8")
        self.emit(f"store i8 {byte}, {POINTER('i8')} {pointer}")
        return self.op(f"zext i1 {self.guard} to i64")

    def _assemble(self, count):
        registers = self.ctx("registers")
        text = [f"define i64 @seg{self.segment.index}(i64 %ctx, i64 %lanes, i64 %n) {{", "entry:", *self.entry_lines, "br label %loop", "loop:",
                "%i = phi i64 [ 0, %entry ], [ %i.next, %latch ]", "%count = phi i64 [ 0, %entry ], [ %count.next, %latch ]",
                "%i4 = shl i64 %i, 2", "%i8 = shl i64 %i, 3", "%lane.address = add i64 %lanes, %i4",
                f"%lane.pointer = inttoptr i64 %lane.address to {POINTER('i32')}",
                f"%lane = load i32, {POINTER('i32')} %lane.pointer", "%lane64 = zext i32 %lane to i64",
                "%lane.offset = shl i64 %lane64, 2", "%lane.offset8 = shl i64 %lane64, 3", "%lane.offset2 = shl i64 %lane64, 1",
                "%lane.offset16 = shl i64 %lane64, 4", f"%lane1 = add i64 {registers}, %lane64", f"%lane2 = add i64 {registers}, %lane.offset2",
                f"%lane4 = add i64 {registers}, %lane.offset", f"%lane8 = add i64 {registers}, %lane.offset8",
                f"%lane16 = add i64 {registers}, %lane.offset16", *self.lines, "br label %latch", "latch:",
                f"%count.next = add i64 %count, {count}", "%i.next = add i64 %i, 1", "%more = icmp ult i64 %i.next, %n",
                "br i1 %more, label %loop, label %done", "done:", "ret i64 %count.next", "}"]
        return "\n".join(text)


def _signed(value, bits):
    """Two's complement value of the low ``bits`` bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value
