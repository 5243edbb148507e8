"""Kernels for the CUDA cores: one multiply-add per thread and instruction."""
