"""Kernels for tensor cores driven by warps: WMMA, mma.sync, and TMA with mma.sync."""
