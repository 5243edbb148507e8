"""CUDA C++ to PTX and machine code with NVRTC: no GPU, no driver, headers from the wheels."""

import kernels
from gemmlab import compat, hints
from gemmlab.errors import GemmlabError
from gemmlab.source import CudaSource


def compile_text(code: CudaSource, target: str) -> tuple[str, bytes, str, str]:
    """Compile CUDA C++ with NVRTC for an exact target; return (PTX, cubin, log, NVRTC version). Raises GemmlabError."""
    library = compat.nvrtc_module()
    if library is None:
        raise GemmlabError("NVRTC is missing: pip install cuda-bindings nvidia-cuda-nvrtc-cu12")
    try:
        _, major, minor = library.nvrtcVersion()
    except Exception:  # the bindings are here but the library is not
        raise GemmlabError("NVRTC is missing: pip install nvidia-cuda-nvrtc-cu12") from None
    name = code.name if code.name.endswith(".cu") else f"{code.name}.cu"
    options = [f"--gpu-architecture={target}", "-lineinfo", "--ptxas-options=-v", "-default-device"]
    options += [f"--include-path={folder}" for folder in [kernels.ROOT, *compat.header_directories()]]
    if (major, minor) >= (12, 9):
        options.append("--no-cache")  # a cached result comes without the assembler's report
    options += [f"-D{macro}={value}" for macro, value in code.defines]
    _, program = library.nvrtcCreateProgram(code.text.encode(), name.encode(), 0, [], [])
    (status,) = library.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
    log = _nvrtc_text(library.nvrtcGetProgramLogSize, library.nvrtcGetProgramLog, program).decode(errors="replace")
    version = f"{major}.{minor}"
    if status.value:
        library.nvrtcDestroyProgram(program)
        raise GemmlabError(hints.compiler_message(log, code.entry, target, version, options))
    ptx = _nvrtc_text(library.nvrtcGetPTXSize, library.nvrtcGetPTX, program).decode().rstrip("\0")
    cubin = _nvrtc_text(library.nvrtcGetCUBINSize, library.nvrtcGetCUBIN, program)
    library.nvrtcDestroyProgram(program)
    return ptx, cubin, log.strip("\0 \n"), version


def _nvrtc_text(size_of, read, program) -> bytes:
    _, size = size_of(program)
    buffer = bytes(size + 1)  # NOTE: filled in place, and Python shares bytes objects of length 0 and 1
    read(program, buffer)
    return buffer[:size]
