"""The rivals of every kernel: cuBLAS by default, and cuBLASLt's first eight heuristics, with 32 MiB of workspace."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from gemmlab.errors import GemmlabError
from gemmlab.measuring.cublas import (
    BLAS_FUNCTIONS,
    GEMM_DEFAULT,
    LT_FUNCTIONS,
    HeuristicResult,
    Library,
    LtPlan,
    Problem,
    load_library,
)

WORKSPACE_BYTES = 32 << 20
HEURISTICS = 8

Run = Callable[[int, int, int, int], None]


class Rivals:
    """cuBLAS and cuBLASLt on the current device. Every run(a, b, c, stream) takes four addresses and only enqueues."""

    def __init__(self):
        import cupy

        major = cupy.cuda.runtime.runtimeGetVersion() // 1000
        self._lt = Library(load_library("cublasLt", major), LT_FUNCTIONS)
        self._blas = Library(load_library("cublas", major), BLAS_FUNCTIONS)
        self._workspace = cupy.empty(WORKSPACE_BYTES, dtype=cupy.uint8)
        self._blas_handle = self._blas.create("cublasCreate_v2")
        self._lt_handle = self._lt.create("cublasLtCreate")
        number = ctypes.c_int()
        self._blas("cublasGetVersion_v2", self._blas_handle, ctypes.byref(number))
        self.version = f"{number.value // 10000}.{number.value // 100 % 100}.{number.value % 100}"

    def default(self, prob: Problem) -> Run:
        """Return the run of one `cublasGemmEx`, which chooses its own kernel."""
        if prob.fast_accumulation:
            raise GemmlabError("cuBLAS rival: cublasGemmEx has no FP8; use cuBLASLt")
        one, zero = prob.scalars()
        first, second = (prob.type_first, prob.ld_first), (prob.type_second, prob.ld_second)
        sizes = prob.op_first, prob.op_second, prob.m, prob.n, prob.k
        tail = prob.type_out, prob.ld_out, prob.compute, GEMM_DEFAULT

        def run(a: int, b: int, c: int, stream: int):
            handle = self._blas_handle
            self._blas("cublasSetStream_v2", handle, stream)
            # cublasSetStream goes back to the library's own workspace, so ours has to be given again.
            self._blas("cublasSetWorkspace_v2", handle, self._workspace.data.ptr, WORKSPACE_BYTES)
            alpha, beta = ctypes.byref(one), ctypes.byref(zero)
            self._blas("cublasGemmEx", handle, *sizes, alpha, b, *first, a, *second, beta, c, *tail)

        return run

    def heuristics(self, prob: Problem) -> list[Run]:
        """Return the runs of up to eight heuristics, in cuBLASLt's own order of preference."""
        plan = LtPlan(self._lt, prob, WORKSPACE_BYTES)
        found, count = (HeuristicResult * HEURISTICS)(), ctypes.c_int()
        layouts = plan.first, plan.second, plan.out, plan.out
        self._lt(
            "cublasLtMatmulAlgoGetHeuristic",
            self._lt_handle, plan.desc, *layouts, plan.preference, HEURISTICS, found, ctypes.byref(count),
        )  # fmt: skip
        return [self._with_algorithm(plan, prob, found[i].algo) for i in range(count.value) if found[i].state == 0]

    def _with_algorithm(self, plan: LtPlan, prob: Problem, algorithm) -> Run:
        one, zero = prob.scalars()

        def run(a: int, b: int, c: int, stream: int):
            self._lt(
                "cublasLtMatmul",
                self._lt_handle, plan.desc, ctypes.byref(one), b, plan.first, a, plan.second, ctypes.byref(zero),
                c, plan.out, c, plan.out, ctypes.byref(algorithm), self._workspace.data.ptr, WORKSPACE_BYTES, stream,
            )  # fmt: skip

        return run
