"""All instruction families, imported so that they register themselves."""

from . import (  # noqa: F401
    barriers,
    ops_arith,
    ops_bits,
    ops_carry,
    ops_convert,
    ops_float,
    ops_half,
    ops_int,
    ops_logic,
    ops_memory,
    ops_minmax,
    ops_move,
    ops_warp,
)
from .registry import COLLECTIVE, NATIVE

__all__ = ["COLLECTIVE", "NATIVE"]
