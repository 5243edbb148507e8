"""What to say when a compiler refuses a kernel: short, first things first, and whether another target would help."""

import re

# Where an instruction family exists (PTX ISA, "Target ISA Notes"; ptxas 13.0 asked for each target).
_WITH_SUFFIX = {"sm_90a", "sm_100a", "sm_103a", "sm_120a"}
_FAMILIES = (
    (re.compile(r"wgmma"), {"sm_90a"}, "wgmma exists on sm_90a only"),
    (re.compile(r"tcgen05"), {"sm_100a", "sm_103a"}, "tcgen05 exists on sm_100a and sm_103a only"),
    (re.compile(r"setmaxnreg"), _WITH_SUFFIX, "setmaxnreg needs a target with the suffix 'a'"),
    (re.compile(r"tensormap\.replace"), _WITH_SUFFIX, "tensormap.replace needs a target with the suffix 'a'"),
)
_OPERANDS = (
    (
        re.compile(r"Arguments mismatch for instruction 'mma'"),
        'mma takes 32-bit registers ("r") for A and B, two 16-bit numbers or one TF32 number each; FP32 sums are "f"',
    ),
    (re.compile(r"instruction 'cp\.async': unexpected value"), "cp.async.cg copies 16 bytes, cp.async.ca 4, 8 or 16"),
)
_ARRAY_SHAPE = re.compile(r"No implementation of function Function\(<function (shared|local)\.array")
_COLOURS = re.compile(r"\x1b\[[\d;]*m")
_ERROR_LINE = re.compile(r"error|fatal", re.IGNORECASE)
_NEEDS_TARGET = re.compile(r"requires .target (sm_\d+\w?)")


def target_hint(log: str, target: str) -> str:
    """Return a sentence on the targets that know the refused instruction, or ""."""
    for pattern, targets, sentence in _FAMILIES:
        if pattern.search(log) and ("not supported on" in log or "requires" in log):
            if target + "a" in targets:
                return f"{sentence}: compile for {target}a"
            other = min(targets, key=lambda name: (len(name), name))
            return f'{sentence}: {target} cannot run it; use target="{other}" on the emulator (backend="emulator")'
    needed = _NEEDS_TARGET.search(log)
    if needed:
        return f'this needs {needed[1]} or higher, the target is {target}: run it on the emulator (backend="emulator")'
    return ""


def compiler_message(log: str, name: str, target: str, version: str, options: list[str]) -> str:
    """Return the message for a refused CUDA C++ kernel: one clear line, then at most six of the compiler's lines."""
    lines = [line.rstrip() for line in log.splitlines() if line.strip("\0 \n")]
    if "invalid value for --gpu-architecture" in log:
        return f"NVRTC {version} does not know the target {target}: update the CUDA wheels or choose an older target"
    if "nrecognized option" in log or "invalid option" in log.lower():
        return f"NVRTC {version} refuses its options {' '.join(options)}: {' '.join(lines)}"
    errors = [line for line in lines if _ERROR_LINE.search(line)]
    hint = target_hint(log, target) or next((said for pattern, said in _OPERANDS if pattern.search(log)), "")
    first = f"the CUDA C++ compiler refuses {name!r} for {target}" + (f": {hint}" if hint else "")
    missing = re.search(r'cannot open source file "([^"]+)"', log)
    if missing:
        first += f": the header {missing[1]} is not found; headers are looked up in kernels/ and in the CUDA wheels"
    shown = errors[:6] or lines[:6]
    more = [f"… and {len(errors) - 6} more errors"] if len(errors) > 6 else []
    return "\n".join([first, *shown, *more])


def numba_message(error: Exception, function) -> str:
    """Return the message for a kernel that Numba cannot compile: one line with the line number and the reason."""
    text = _COLOURS.sub("", str(error))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    array = _ARRAY_SHAPE.search(text)
    if array:
        reason = (
            f"the shape of a {array[1]} array must be a constant: use a module constant, "
            "a variable of an enclosing function (closure), or dynamic shared memory"
        )
    else:
        lines = [line for line in lines if not line.startswith("Failed in")]
        reason = lines[0] if lines else type(error).__name__
        call = next((line.removeprefix(">>> ") for line in lines if line.startswith(">>>")), None)
        if call and reason.startswith("No implementation of function"):
            reason = f"Numba knows no {call}"
    return f"Numba cannot compile {function.__name__!r}{_line(error, text)}: {reason[:300]}"


def _line(error: Exception, text: str) -> str:
    where = re.findall(r'File "[^"]*", line (\d+)', text) or re.findall(r"\((\d+)\)\s*$", text)
    line = where[-1] if where else getattr(getattr(error, "loc", None), "line", None)
    return f" (line {line})" if line else ""
