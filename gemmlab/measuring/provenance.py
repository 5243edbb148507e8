"""Which source a measurement belongs to: a hash over a kernel file and everything of ours that goes into it."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from kernels import ROOT


def source_sha256(path: Path, include_root: Path) -> str:
    """Return the SHA-256 over a kernel file and every file of ours that it includes or imports, directly or not.

    Line endings are normalised. Files that are not under `include_root` or beside the including file (the CUDA
    toolkit's headers, Numba) do not count.
    """
    digest, seen, queue = hashlib.sha256(), set(), [Path(path).resolve()]
    while queue:
        file = queue.pop(0)
        if file in seen:
            continue
        seen.add(file)
        text = file.read_text(encoding="utf-8").replace("\r\n", "\n")
        digest.update(text.encode())
        names = re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, flags=re.M)
        names += [m.replace(".", "/") + ".py" for m in re.findall(r"^from kernels\.([\w.]+) import", text, flags=re.M)]
        for name in names:
            found = [p for p in (file.parent / name, Path(include_root) / name) if p.exists()]
            queue += [p.resolve() for p in found[:1]]
    return digest.hexdigest()


def spec_sha256(spec) -> str:
    """Return the SHA-256 of a Spec's source: its file, what that includes, and its macros where it has any."""
    source = source_sha256(spec.path, ROOT)
    if not spec.defines:
        return source
    macros = " ".join(f"{name}={value}" for name, value in sorted(spec.defines.items()))
    return hashlib.sha256(f"{source} {macros}".encode()).hexdigest()
