"""First process inside a sandbox: set the limits, hide folders, raise the loopback device, become the command.

Started by ``sandbox.run`` as ``python -I sandbox_init.py MEMORY_MB CPU_SECONDS HIDE -- COMMAND…``; imports only the
standard library. Notebook kernels talk over 127.0.0.1, which a new network namespace has switched off.
"""

import ctypes
import fcntl
import os
import resource
import socket
import struct
import sys

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1
MS_REC_PRIVATE = (1 << 14) | (1 << 18)
FILE_LIMIT_BYTES = 256 << 20


def limit(memory_mb: int, cpu_seconds: int) -> None:
    """Set hard limits on address space, processor time, file size and core dumps."""
    for name, value in (
        (resource.RLIMIT_AS, memory_mb << 20),
        (resource.RLIMIT_CPU, 4 * cpu_seconds),
        (resource.RLIMIT_FSIZE, FILE_LIMIT_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(name, (value, value))


def raise_loopback() -> None:
    """Switch on ``lo``; without the right to do so it is on already."""
    request = struct.pack("16sh14x", b"lo", 0)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        try:
            flags = struct.unpack("16sh14x", fcntl.ioctl(control, SIOCGIFFLAGS, request))[1]
            fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | IFF_UP))
        except OSError:
            pass


def hide(paths: list[str]) -> None:
    """Cover each folder with an empty one, in this mount namespace only; raise OSError if the system refuses."""
    libc = ctypes.CDLL(None, use_errno=True)
    for source, target, kind, flags in [
        (None, b"/", None, MS_REC_PRIVATE),
        *((b"none", os.fsencode(path), b"tmpfs", 0) for path in paths),
    ]:
        if libc.mount(source, target, kind, flags, None) != 0:
            raise OSError(ctypes.get_errno(), f"cannot hide {os.fsdecode(target)}")


def main(arguments: list[str]) -> None:
    memory_mb, cpu_seconds, hidden, _, *command = arguments
    paths = [path for path in hidden.split(os.pathsep) if os.path.isdir(path)]
    if paths:
        hide(paths)
    raise_loopback()
    limit(int(memory_mb), int(cpu_seconds))
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
