"""Global memory of a launch: one byte arena with guard zones, module variables and parameters at fixed addresses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .errors import LaunchError
from .layout import GLOBAL_BASE

GUARD = 256
ALIGN = 512


class Array:
    """A NumPy array as a kernel argument, with a name for messages and a role.

    ``role``: "in", "out" (elements never written are reported) or "inout". ``offset``: bytes added to the address that
    the kernel gets.
    """

    def __init__(self, array, name=None, role="inout", offset=0):
        if role not in ("in", "out", "inout"):
            raise LaunchError(f"role {role!r} of array {name}: use 'in', 'out' or 'inout'")
        self.array, self.name, self.role, self.offset = array, name, role, offset


@dataclass(eq=False)
class Placed:
    """An allocation as the observer sees it."""

    name: str
    address: int
    nbytes: int
    role: str
    shape: tuple
    strides: tuple
    itemsize: int
    array: object = None


def round_up(value, to):
    """Smallest multiple of ``to`` that is at least ``value``."""
    return -(-value // to) * to


def place_module(module):
    """Addresses of the module's global and const variables: (name -> address, list of Placed, end address)."""
    addresses, placed, at = {}, [], GLOBAL_BASE + GUARD
    for variable in module.variables.values():
        if variable.space in ("global", "const") and not variable.extern:
            at = round_up(at, max(variable.align, 16))
            addresses[variable.name] = at
            placed.append(Placed(variable.name, at, variable.size, "module", (variable.size,), (1,), 1))
            at += variable.size
    return addresses, placed, round_up(at + GUARD, ALIGN)


def module_image(module, addresses):
    """Initial bytes of the module's variables: {name: uint8 array}."""
    image = {}
    for name in addresses:
        variable = module.variables[name]
        data = bytearray(variable.data or bytes(variable.size))
        for offset, width, symbol, addend, _ in variable.relocations:
            if symbol not in addresses:
                raise LaunchError(f"variable {name} is initialised with the address of {symbol}, which has none")
            data[offset : offset + width] = (addresses[symbol] + addend).to_bytes(8, "little")[:width]
        image[name] = np.frombuffer(bytes(data), np.uint8).copy()
    return image


class Memory:
    """The arena. ``global_base`` and ``global_size`` describe it; ``arrays`` lists the live allocations."""

    def __init__(self, module_placed, image, param_address, params, arrays):
        self.global_base = GLOBAL_BASE
        self.arrays = list(module_placed)
        at = round_up(param_address + len(params) + GUARD, ALIGN)
        self.bindings = []
        shared_allocation = {}
        for position, wrapped in arrays:
            key = id(wrapped.array)
            if key not in shared_allocation:
                data = wrapped.array
                placed = Placed(
                    wrapped.name or f"argument {position}",
                    at,
                    data.nbytes,
                    wrapped.role,
                    data.shape,
                    data.strides,
                    data.itemsize,
                    data,
                )
                shared_allocation[key] = placed
                self.arrays.append(placed)
                at = round_up(at + data.nbytes + GUARD, ALIGN)
            self.bindings.append((wrapped, shared_allocation[key]))
        self.global_size = at - GLOBAL_BASE
        raw = np.zeros(self.global_size + 512, np.uint8)
        start = -raw.ctypes.data % 512
        self.arena = raw[start : start + self.global_size]
        self.delta = self.arena.ctypes.data - GLOBAL_BASE
        for placed in module_placed:
            self.view(placed)[:] = image[placed.name]
        for placed in shared_allocation.values():
            self.view(placed)[:] = _raw(placed.array)
        self.param_address, self.param_size = param_address, len(params)
        self.write_params(params)
        ranges = [(p.address, p.address + p.nbytes) for p in self.arrays]
        ranges.append((param_address, param_address + len(params)))
        self.ranges = np.array(sorted(ranges, key=lambda r: r[0] - r[1]), np.int64)  # largest first: most likely hit
        self.machine = None

    def write_params(self, params):
        """Put the parameter bytes in place."""
        at = self.param_address - GLOBAL_BASE
        self.arena[at : at + len(params)] = np.frombuffer(bytes(params), np.uint8)

    def view(self, placed):
        """uint8 view of an allocation."""
        at = placed.address - GLOBAL_BASE
        return self.arena[at : at + placed.nbytes]

    def write_back(self, image):
        """Copy changed allocations to the caller's arrays and the module's image."""
        for placed in self.arrays:
            data = self.view(placed)
            if placed.role == "module":
                image[placed.name][:] = data
                continue
            old = _raw(placed.array)
            if not np.array_equal(old, data):
                if not placed.array.flags.writeable:
                    raise LaunchError(
                        f"the kernel wrote to {placed.name}, but the NumPy array is read-only; pass a writable copy"
                    )
                old[:] = data

    def peek(self, space, slot, addr, nbytes):
        """uint8[n, nbytes]: bytes that memory holds now at ``addr`` (global address, or offset in the shared memory of
        ``slot``).
        """
        lanes = np.arange(nbytes)
        if space == "shared":
            return self.machine.shared[np.asarray(slot)[:, None], np.asarray(addr)[:, None] + lanes]
        return self.arena[(np.asarray(addr) - GLOBAL_BASE)[:, None] + lanes]


def _raw(array):
    """uint8 view of a C- or F-contiguous array."""
    flat = array.reshape(-1) if array.flags.c_contiguous else array.T.reshape(-1)
    return flat.view(np.uint8) if flat.size else np.zeros(0, np.uint8)
