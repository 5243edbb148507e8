"""All instruction families, imported so that they register themselves."""

from . import barriers, ops_arith, ops_carry, ops_convert, ops_float, ops_half, ops_int, ops_logic, ops_memory, ops_move, ops_warp  # noqa: F401
from .registry import COLLECTIVE, NATIVE

__all__ = ["COLLECTIVE", "NATIVE"]
