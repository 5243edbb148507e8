"""Kernels for Hopper: wgmma, warp specialisation, clusters, persistent schedules."""
