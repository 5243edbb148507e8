"""All instruction families, imported so that they register themselves.

A new family is one more ``ops_*`` file named here. Instructions of one lane become native code (``@native``); those in
which lanes act together, or that start or await something asynchronous, are run by the machine for a whole group
(``@collective``): such a handler reads and writes registers as arrays (``machine.row``), and says where the lanes go on
(``machine.push``) or that they wait (``machine.parked``, tried again whenever nothing else can run).
"""

from . import (  # noqa: F401
    ops_arith,
    ops_barrier,
    ops_bits,
    ops_bulk,
    ops_carry,
    ops_cluster,
    ops_convert,
    ops_copy,
    ops_float,
    ops_half,
    ops_int,
    ops_ldmatrix,
    ops_logic,
    ops_mbarrier,
    ops_memory,
    ops_minmax,
    ops_mma,
    ops_move,
    ops_setmaxnreg,
    ops_warp,
    ops_wgmma,
    ops_wmma,
)
from .registry import COLLECTIVE, NATIVE

__all__ = ["COLLECTIVE", "NATIVE"]
