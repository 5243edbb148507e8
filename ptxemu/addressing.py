"""Addresses, checked memory accesses and special registers of one segment."""

from __future__ import annotations

from .ir import Address, Int, Symbol
from .layout import CLUSTER_SPAN, LANE_SPECIAL, LAUNCH_SPECIAL, LOCAL_WINDOW, SEEN_LANES, SHARED_WINDOW, WINDOW_SIZE
from .llvm import POINTER
from .values import Values, to_signed


class Addressing(Values):
    """Adds memory to :class:`Values`: ``pointer`` checks an access, ``load`` and ``store`` do it."""

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
            return self.op(f"lshr i32 {self.special('tid.linear')[0]}, 5"), 32
        if name.startswith("lanemask_"):
            one = self.op(f"shl i32 1, {laneid}")
            below = self.op(f"sub i32 {one}, 1")
            return {
                "eq": lambda: one,
                "lt": lambda: below,
                "le": lambda: self.op(f"or i32 {one}, {below}"),
                "ge": lambda: self.op(f"xor i32 {below}, -1"),
                "gt": lambda: self.op(f"xor i32 {self.op(f'or i32 {one}, {below}')}, -1"),
            }[name[9:]](), 32
        if name in ("clock64", "globaltimer"):
            return self._clock(), 64
        if name in ("clock", "globaltimer_lo"):
            return self.op(f"trunc i64 {self._clock()} to i32"), 32
        if name in ("clock_hi", "globaltimer_hi"):
            return self.op(f"trunc i64 {self.op(f'lshr i64 {self._clock()}, 32')} to i32"), 32
        constant = {"gridid": (0, 64), "ntid.w": (1, 32), "nctaid.w": (1, 32)}.get(name)
        if constant is not None:
            return str(constant[0]), constant[1]
        if name == "is_explicit_cluster":
            return self.op(f"icmp ugt i32 {self.special('cluster_nctarank')[0]}, 1"), 1
        return self.unsupported(f"special register %{name}")

    def _clock(self):
        pointer = self.hoist("clock pointer", f"inttoptr i64 {self.ctx('clock')} to {POINTER('i64')}")
        now = self.op(f"load i64, {POINTER('i64')} {pointer}")
        later = self.op(f"add i64 {now}, 1")
        self.emit(f"store i64 {later}, {POINTER('i64')} {pointer}")
        return now

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
                value = self.op(f"add i32 {value}, {to_signed(operand.offset, 32)}")
            return self.op(f"zext i32 {value} to i64")
        return self.op(f"add i64 {value}, {operand.offset}") if operand.offset else value

    def pointer(self, space, address, nbytes, site):
        """Check an access of ``nbytes``; return (host address i64, active i1). Inactive lanes get a scratch pad."""
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

    def _cluster(self, offset, nbytes):
        """(host address, whether it fits) of an offset in the cluster's shared memory: see ptxemu/cluster.py."""
        rank = self.op(f"lshr i64 {offset}, {WINDOW_SIZE.bit_length() - 1}")
        low = self.op(f"and i64 {offset}, {WINDOW_SIZE - 1}")
        mine = self.op(f"zext i32 {self.special('cluster_ctarank')[0]} to i64")
        ahead = self.op(f"sub i64 {self.op(f'sub i64 {rank}, 1')}, {mine}")
        far = self.op(f"mul i64 {ahead}, {self.ctx('shared_pitch')}")
        own = self.op(f"icmp eq i64 {rank}, 0")
        host = self.op(f"add i64 {self.op(f'add i64 {self.shared_base()}, {low}')}, "
                       f"{self.op(f'select i1 {own}, i64 0, i64 {far}')}")  # fmt: skip
        size = self.op(f"zext i32 {self.special('cluster_nctarank')[0]} to i64")
        end = self.op(f"add i64 {low}, {nbytes}")
        inside = self.op(f"icmp ule i64 {end}, {self.ctx('shared_size')}")
        return host, self.op(f"and i1 {inside}, {self.op(f'icmp ule i64 {rank}, {size}')}")

    def _shared(self, address, nbytes, site):
        if "shared::cluster" in self.ins.mods:
            host, good = self._cluster(address, nbytes)
            if nbytes > 1:
                good = self.op(f"and i1 {good}, {self._aligned(address, nbytes)}")
            return host, self._slow(good, f"call i1 @fault(i64 %ctx, i64 {site}, i64 %lane64, i64 {address})")
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
            address = self.op(f"add i64 {self.ctx('lane_shared')}, %lane.offset8")
            pointer = self.op(f"inttoptr i64 {address} to {POINTER('i64')}")
            found = self.values["shared base"] = self.op(f"load i64, {POINTER('i64')} {pointer}")
        return found

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
        clusters = self.program.clusters
        in_shared = self.op(f"icmp ult i64 {shared_offset}, {CLUSTER_SPAN if clusters else WINDOW_SIZE}")
        local_offset = self.op(f"sub i64 {address}, {LOCAL_WINDOW}")
        in_local = self.op(f"icmp ult i64 {local_offset}, {WINDOW_SIZE}")
        host_g, host_s = self.temp(), self.temp()
        size = self.ctx("shared_size")
        end = self.op(f"add i64 {shared_offset}, {nbytes}")
        local_end = self.op(f"add i64 {local_offset}, {nbytes}")
        remote, fits = self._cluster(shared_offset, nbytes) if clusters else (None, None)
        fits = fits or self.op(f"icmp ule i64 {end}, {size}")
        ok_s = self.op(f"and i1 {in_shared}, {fits}")
        ok_l = self.op(f"and i1 {in_local}, {self.op(f'icmp ule i64 {local_end}, {self.program.local_size}')}")
        either = self.op(f"or i1 {ok_s}, {ok_l}")
        if nbytes > 1:
            either = self.op(f"and i1 {either}, {self._aligned(address, nbytes)}")
        good = self._slow(either, f"call i1 @lookup(i64 %ctx, i64 {site}, i64 %lane64, i64 {address}, i64 {nbytes})")
        self.emit(f"{host_g} = add i64 {address}, {self.ctx('global_delta')}")
        self.emit(f"{host_s} = add i64 {remote or shared_offset}, {'0' if clusters else self.shared_base()}")
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
