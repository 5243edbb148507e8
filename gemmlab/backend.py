"""Where a kernel runs: on this machine's GPU if that can run it, else on the emulator, and which device that plays."""

from gemmlab import gpu
from gemmlab.compile import CUDA_TARGET, Compiled, CudaSource, choose_target, compile_kernel, parse_target
from gemmlab.device import device
from gemmlab.errors import GemmlabError
from gemmlab.rules import dynamic_shared
from gemmlab.source import resolve
from kernels import LADDER, Spec


def choose_backend(kernel, backend: str | None, shared: int = 0) -> str:
    """Return "gpu" or "emulator". A forced GPU that cannot run the kernel is a GemmlabError with the reason.

    `shared`: dynamic shared memory of a block in bytes, where it is known.
    """
    if backend not in (None, "gpu", "emulator"):
        raise GemmlabError(f'backend={backend!r}: choose "gpu", "emulator" or None (the GPU if it can run the kernel)')
    if backend == "emulator":
        return backend
    here = device()
    if backend == "gpu":
        gpu.require_gpu()
    if here.kind != "gpu":
        return "emulator"
    why = obstacle(kernel, shared)
    if why and backend == "gpu":
        raise GemmlabError(f'{why}: run it with backend="emulator"')
    return "emulator" if why else "gpu"


def obstacle(kernel, shared: int = 0) -> str:
    """Say why this machine's GPU cannot run a kernel; "" if it can. `shared` as in choose_backend."""
    here = device()
    if isinstance(kernel, Compiled):
        cc, suffix = parse_target(kernel.target)
        fits, needs, spec = (cc == here.cc if suffix else cc <= here.cc), kernel.target, kernel.spec
    else:
        code, spec = resolve(kernel)
        fits = spec.runs_on(here.cc) if spec else not isinstance(code, CudaSource) or _compiles_for(here.target, code)
        needs = spec.target if spec else CUDA_TARGET
    if not fits:
        return f"this kernel needs {needs}; {here.name} is sm_{here.cc[0]}{here.cc[1]}"
    taken = shared or (dynamic_shared(spec.rule()) if spec else 0)
    if not here.holds(taken):
        smaller = _that_fits(spec, here) if spec else ""
        return (
            f"this kernel takes {taken:,} bytes of shared memory per block, and {here.name} has at most "
            f"{here.shared_per_block:,}" + (f" ({smaller} fits)" if smaller else "")
        )
    return ""


def _that_fits(spec: Spec, here) -> str:
    """Return the name of the kernel of the same chapter and types that uses most of this GPU's shared memory, or ""."""
    alike = [other for other in LADDER if (other.chapter, other.a_dtype) == (spec.chapter, spec.a_dtype)]
    sizes = {other.name: dynamic_shared(other.rule()) for other in alike if other.runs_on(here.cc)}
    return max((name for name, size in sizes.items() if size and here.holds(size)), key=sizes.get, default="")


def _compiles_for(target: str, code: CudaSource) -> bool:
    """Say whether CUDA C++ text is for this GPU. What does not compile for the emulator's target either is: it gets to
    hear why.
    """
    for tried, answer in ((target, True), (CUDA_TARGET, False)):
        try:
            compile_kernel(code, tried)
            return answer
        except GemmlabError:
            continue
    return True


def sms_of(kernel, backend: str) -> int:
    """Return the number of SMs that a launch of `kernel` finds: the GPU's, or those of the emulator's profile."""
    if backend == "gpu":
        return device().sms
    target = kernel.target if isinstance(kernel, Compiled) else choose_target(*resolve(kernel), backend)
    return profile_of(target).sms


def profile_of(target: str):
    """Return the device that the emulator plays for a target: an H200 whenever one runs it."""
    import ptxemu

    cc, suffix = parse_target(target)
    elsewhere = cc > ptxemu.H200.cc or (suffix and cc != ptxemu.H200.cc)
    return ptxemu.profile_for(target) if elsewhere else ptxemu.H200
