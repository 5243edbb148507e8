"""From PTX to machine code, and from machine code to SASS, with whatever tool is here; and what ptxas says about it."""

import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from gemmlab import compat
from gemmlab.errors import GemmlabError

TIMEOUT_S = 120
_REGISTERS = re.compile(r"Used (\d+) registers")
_SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
_SHARED = re.compile(r"(\d+) bytes smem")
_REMARK = re.compile(r"\(C7\d\d\d\)|warning", re.IGNORECASE)
_NOISE = re.compile(r"Compile time|^\s*$|bytes gmem")


@dataclass(frozen=True)
class Assembly:
    """Machine code and what its assembler reported; None where no assembler reported it. Sizes in bytes."""

    cubin: bytes | None = field(repr=False)
    assembler: str
    registers: int | None = None
    spill_bytes: int | None = None
    static_shared: int | None = None
    messages: tuple[str, ...] = ()

    @property
    def remarks(self) -> tuple[str, ...]:
        """Lines that deserve attention: warnings and the C7xxx family (wgmma serialised, waits injected)."""
        return tuple(line for line in self.messages if _REMARK.search(line))


def parse_log(log: str, entry: str) -> dict:
    """Return registers, spill_bytes, static_shared and messages from what `ptxas -v` prints about `entry`."""
    lines = [" ".join(line.split()) for line in log.splitlines() if not _NOISE.search(line)]
    start = next((i for i, line in enumerate(lines) if f"entry function '{entry}'" in line), 0)
    end = next((i for i in range(start + 1, len(lines)) if "Compiling entry function" in lines[i]), len(lines))
    block = "\n".join(lines[start:end])
    registers, spills, shared = (pattern.search(block) for pattern in (_REGISTERS, _SPILLS, _SHARED))
    return {
        "registers": int(registers[1]) if registers else None,
        "spill_bytes": int(spills[1]) + int(spills[2]) if spills else None,
        "static_shared": int(shared[1]) if shared else (0 if registers else None),
        "messages": tuple(lines),
    }


def assemble(ptx: str, entry: str, target: str, max_registers: int | None = None) -> Assembly:
    """Assemble PTX for `target` with ptxas, else nvJitLink. Without both, or if they are older than the PTX: no cubin.

    Raises GemmlabError with the assembler's lines when the PTX itself is refused.
    """
    tool = compat.find_tool("ptxas")
    for attempt in (lambda: _ptxas(tool, ptx, entry, target, max_registers), lambda: _nvjitlink(ptx, entry, target)):
        result = attempt()
        if result is not None:
            return result
    return Assembly(None, "the driver")


def _ptxas(tool: Path | None, ptx: str, entry: str, target: str, max_registers: int | None) -> Assembly | None:
    if tool is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx, encoding="utf-8")
        command = [tool, "-v", "-lineinfo", f"-arch={target}", source, "-o", cubin]
        if max_registers:
            command.insert(1, f"-maxrregcount={max_registers}")
        done = _call(command)
        log = (done.stdout + done.stderr).replace(str(source), "kernel.ptx")
        if done.returncode == 0:
            return Assembly(cubin.read_bytes(), f"ptxas {_tool_version(tool)}", **parse_log(log, entry))
    if "Unsupported .version" in log or "is not defined for option 'gpu-name'" in log:
        return None
    raise GemmlabError(f"ptxas refuses the PTX of {entry!r} for {target}:\n" + _head(log))


def _nvjitlink(ptx: str, entry: str, target: str) -> Assembly | None:
    nvjitlink = compat.nvjitlink_module()
    if nvjitlink is None:
        return None
    try:
        major, minor = nvjitlink.version()
        handle = nvjitlink.create(3, [f"-arch={target}", "-lineinfo", "-verbose"])
    except Exception:  # the library itself is missing: the class differs between versions of the bindings
        return None
    try:
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, ptx.encode(), len(ptx), "kernel.ptx")
        nvjitlink.complete(handle)
        cubin = bytearray(nvjitlink.get_linked_cubin_size(handle))
        nvjitlink.get_linked_cubin(handle, cubin)
        log = bytearray(nvjitlink.get_info_log_size(handle))
        nvjitlink.get_info_log(handle, log)
    except nvjitlink.nvJitLinkError:
        return None
    finally:
        nvjitlink.destroy(handle)
    return Assembly(bytes(cubin), f"nvJitLink {major}.{minor}", **parse_log(log.decode().strip("\0"), entry))


def _call(command: list) -> subprocess.CompletedProcess:
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=TIMEOUT_S, check=False)


def _tool_version(tool: Path) -> str:
    found = re.search(r"V(\d+\.\d+\.\d+)", _call([tool, "--version"]).stdout)
    return found[1] if found else "of unknown version"


def disassemble(cubin: bytes | None) -> str:
    """Return the SASS of a cubin. Raises GemmlabError when the disassembler (nvdisasm or cuobjdump) is missing."""
    tool = compat.find_tool("nvdisasm")
    command = [tool, "-c"] if tool else [compat.find_tool("cuobjdump"), "-sass"]
    if command[0] is None:
        raise GemmlabError("SASS needs nvdisasm: pip install nvidia-cuda-nvdisasm (PTX is always there: .ptx)")
    if cubin is None:
        raise GemmlabError("SASS needs machine code, and no assembler is here: pip install nvidia-cuda-nvcc-cu12")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.cubin")
        path.write_bytes(cubin)
        done = _call([*command, path])
    if done.returncode:
        raise GemmlabError(f"{command[0].name} cannot read the machine code: {_head(done.stderr, 1)}")
    return done.stdout


def _head(text: str, count: int = 6) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    more = f"\n… and {len(lines) - count} more lines" if len(lines) > count else ""
    return "\n".join(lines[:count]) + more
