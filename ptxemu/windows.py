"""Address windows of the generic address space, shared by code generation and the machine."""

SHARED_WINDOW = 0x0100_0000_0000  # generic addresses of shared memory
LOCAL_WINDOW = 0x0200_0000_0000
GLOBAL_BASE = 0x7F00_0000_0000
WINDOW_SIZE = 1 << 24
