"""Compile test kernels to PTX without a GPU: CUDA C++ through NVRTC, Python through Numba."""

import functools
from pathlib import Path

from cuda.bindings import nvrtc
from numba import cuda

import ptxemu

KERNELS = Path(__file__).parent / "kernels"


@functools.cache
def nvrtc_ptx(source, name="kernel.cu", arch="90a", options=()):
    """PTX text of CUDA C++ ``source`` for sm_``arch``, with source lines."""
    _, program = nvrtc.nvrtcCreateProgram(source.encode(), name.encode(), 0, [], [])
    flags = [f"--gpu-architecture=compute_{arch}", "-lineinfo", "-std=c++17", *options]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(flags), [f.encode() for f in flags])
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        _, size = nvrtc.nvrtcGetProgramLogSize(program)
        log = b" " * size
        nvrtc.nvrtcGetProgramLog(program, log)
        raise ValueError(log.decode())
    _, size = nvrtc.nvrtcGetPTXSize(program)
    text = b" " * size
    nvrtc.nvrtcGetPTX(program, text)
    return text.rstrip(b"\0 ").decode()


def file_ptx(name, arch="90a"):
    """PTX of tests/ptxemu/kernels/``name``."""
    return nvrtc_ptx((KERNELS / name).read_text(), name, arch)


def numba_ptx(function, signature, cc=(9, 0)):
    """PTX text of a Python kernel compiled by Numba for compute capability ``cc``."""
    return cuda.compile(function, signature, device=False, abi="numba", lineinfo=True, cc=cc)[0]


def numba_args(array, name, role="inout"):
    """The parameters by which Numba passes an array: meminfo, parent, size, itemsize, data, shape, strides."""
    wrapped = ptxemu.Array(array, name=name, role=role)
    return [0, 0, array.size, array.itemsize, wrapped, *array.shape, *array.strides]


def marked_lines(name, kernel, mark):
    """Source lines of ``kernel`` in the file ``name`` whose comment holds the word ``mark``."""
    lines = (KERNELS / name).read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if f"void {kernel}(" in line)
    found = []
    for i in range(start, len(lines)):
        comment = lines[i].partition("//")[2]
        if mark in comment.split():
            found.append(i + 1)
        if lines[i] == "}" or (i == start and lines[i].endswith("}")):
            break
    return found
