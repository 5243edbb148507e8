"""Exercises whose answer is a kernel: compiled to PTX where the learner's code runs, judged from the PTX alone."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from gemmlab.check import check, default_shapes
from gemmlab.compile import compile_kernel, from_ptx
from gemmlab.errors import CheckError, GemmlabError
from gemmlab.grading.exercise import Exercise
from gemmlab.grading.targets import NoDouble, StoredOnce, Target, probe, writes_global
from gemmlab.reference import numpy_dtype
from gemmlab.rules import mapped
from gemmlab.source import CudaSource, resolve
from kernels import ROOT, Spec

EMULATED_TARGET = {"numba": "sm_90", "cuda": "sm_90a"}
PTX_LIMIT_CHARS = 2_000_000
BLOCK_LIMIT = 1024
LONG_SHAPES = ((300, 9, 8), (9, 300, 7))  # beyond an index of 8 bits; one of N and K with wide rows, the other without
Shape = tuple[int, int, int]


def hidden_shapes(rng) -> list[tuple[str, Shape]]:
    """Draw shapes (M, N, K) that the learner has not seen, each with the name of its category."""

    def some(low, high):
        return int(rng.integers(low, high))

    return [
        ("sizes off the block", (some(18, 31), some(34, 63), some(3, 31))),
        ("a single row", (1, some(40, 90), some(5, 40))),
        ("a single column", (some(40, 90), 1, some(5, 40))),
        ("K = 1", (some(9, 40), some(9, 40), 1)),
        ("a long K", (some(5, 20), some(5, 20), some(200, 400))),
        ("several blocks", (some(66, 90), some(66, 90), some(8, 24))),
    ]


def _of_the_course(code) -> bool:
    """Does the code come from kernels/ instead of a cell? An oversight that a learner should hear of, not a defence."""
    if isinstance(code, CudaSource):
        return code.name.startswith("kernels/")
    return Path(getattr(code, "py_func", code).__code__.co_filename).is_relative_to(ROOT)


@dataclass(frozen=True, kw_only=True, repr=False)
class Kernel(Exercise):
    """A GEMM kernel. `spec` says what it computes and how it is launched; `targets` what its accesses must look like.

    With `choose_block` the answer is (kernel, block): the learner chooses the block of exactly `threads` threads, whose
    sizes the grid's expressions call BX, BY and BZ. `refused`: rules of the emulator whose warnings fail the answer.
    """

    kind: ClassVar[str] = "kernel"
    spec: Spec
    targets: tuple[Target, ...] = (NoDouble(), StoredOnce())
    probe_shape: Shape = (64, 64, 16)
    choose_block: bool = False
    threads: int = 256
    refused: tuple[str, ...] = ()

    def inputs(self, rng=None):
        return hidden_shapes(rng) if rng else []

    def shapes(self) -> tuple[Shape, ...]:
        """Return the public shapes (M, N, K); a kernel of tensor cores has a K that goes round its ring of stages."""
        if self.spec.a_dtype == "float32":
            return *default_shapes(), *LONG_SHAPES
        steps = {"BK": self.spec.tile.get("BK", 16)}
        return *default_shapes(steps, self.spec.align, self.spec.a_dtype), *LONG_SHAPES

    def record(self, answer, inputs):
        kernel, block = self._split(answer)
        if kernel is None or kernel is Ellipsis:
            raise self.unfinished("define the kernel")
        wanted = {"numba": "a Numba kernel (@cuda.jit)", "cuda": "a CUDA C++ kernel (%%cuda)"}[self.spec.language]
        if isinstance(kernel, str) or not (callable(kernel) or isinstance(kernel, (CudaSource, Spec))):
            raise self.fail(f"give {wanted}, written in the answer cell, not {type(kernel).__name__}")
        try:
            code, spec = resolve(kernel)
            language = "cuda" if isinstance(code, CudaSource) else "numba"
            if spec is not None or language != self.spec.language or _of_the_course(code):
                raise self.fail(f"give {wanted}, written in the answer cell")
            compiled = compile_kernel(code, target=EMULATED_TARGET[language], signature=self._signature())
        except GemmlabError as error:
            raise self.fail(str(error)) from None
        return {"ptx": compiled.ptx, "entry": compiled.entry, "block": list(block)}

    def _signature(self):
        """Return one array per parameter of a Numba kernel, for its types."""
        if self.spec.language != "numba":
            return None
        dtypes = (self.spec.a_dtype, self.spec.b_dtype, self.spec.c_dtype)
        return [np.zeros((2, 2), numpy_dtype(name)) for name in dtypes]

    def _split(self, answer):
        if not self.choose_block:
            return answer, self.spec.block
        if not isinstance(answer, (tuple, list)) or len(answer) != 2:
            raise self.fail("give the kernel and its block, such as (kernel, (32, 8))")
        return answer[0], self._block(answer[1])

    def _block(self, block):
        """Return the block as three sizes; raise CheckError for anything that is none."""
        sizes = list(block) if isinstance(block, (tuple, list)) else []
        if not 1 <= len(sizes) <= 3 or not all(type(size) is int and 0 < size <= BLOCK_LIMIT for size in sizes):
            raise self.fail(f"a block is one to three sizes of 1 to {BLOCK_LIMIT} threads, such as (32, 8)")
        x, y, z = sizes + [1] * (3 - len(sizes))
        if x * y * z != self.threads:
            raise self.fail(f"the block {tuple(sizes)} has {x * y * z} threads; take {self.threads}")
        return x, y, z

    def judge(self, record, inputs=None, backend="emulator"):
        ptx, entry = record.get("ptx"), record.get("entry")
        if not isinstance(ptx, str) or not isinstance(entry, str) or len(ptx) > PTX_LIMIT_CHARS:
            raise self.fail("the answer holds no kernel that can be judged")
        spec = self._launched(record.get("block"))
        try:
            names = tuple(mapped(name) or name for name in spec.args)
            compiled = replace(from_ptx(ptx, spec.language, entry), spec=spec, arg_names=names)
            if not writes_global(ptx):
                raise self.unfinished("the kernel writes nothing to C")
            checked = check(compiled, shapes=self.shapes(), backend=backend, quiet=True)
            for warning in checked.warnings:
                if any(f"[{rule}]" in warning for rule in self.refused):
                    raise self.fail(warning)
            counted = probe(compiled, self.probe_shape)
            for target in self.targets:
                target.require(counted)
            self._hidden(compiled, inputs or [], backend)
        except GemmlabError as error:
            raise self.fail(str(error)) from None
        except CheckError as error:
            raise error if str(error).startswith(self.id) else self.fail(str(error)) from None
        reached = "".join(f", {target.reached}" for target in self.targets if target.reached)
        found = f"no error, but a {checked.warnings[0].splitlines()[0]}" if checked.warnings else "no finding"
        return f"right at every shape, {found}{reached}"

    def _launched(self, block):
        if not self.choose_block:
            return self.spec
        x, y, z = self._block(block)
        return replace(self.spec, block=(x, y, z), tile={"BX": x, "BY": y, "BZ": z})

    def _hidden(self, compiled, shapes, backend):
        """Check the hidden shapes; say of those that fail only their categories and the smallest."""
        failed = []
        for category, shape in shapes:
            try:
                check(compiled, shapes=[tuple(shape)], backend=backend, quiet=True)
            except CheckError:
                failed.append((tuple(shape), category))
        if failed:
            smallest = min(failed, key=lambda item: (item[0][0] * item[0][1] * item[0][2], item[0]))[0]
            categories = ", ".join(dict.fromkeys(category for _, category in failed))
            raise self.fail(
                f"right at the public shapes, wrong at hidden ones ({categories}); "
                f"the smallest that fails is {'×'.join(map(str, smallest))} (M×N×K)"
            )
