"""The stopwatch: timing kernels beside cuBLAS, what is refused, and the limits of the machine itself."""
