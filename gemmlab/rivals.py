"""The rivals: cuBLAS and cuBLASLt, called through ctypes.

CuPy has no heuristics API, so both libraries are called directly: `cublasGemmEx` for the default, and
`cublasLtMatmulAlgoGetHeuristic` + `cublasLtMatmul` for the first heuristic and the best of the first eight, all with
a workspace of 32 MiB. The libraries are column-major. A row-major (M, N) array is the same memory as a column-major
(N, M) one, so C = A @ B is asked for as Cᵀ = Bᵀ @ Aᵀ: B goes in first, A second, M and N change places, nothing is
copied. FP32 uses CUBLAS_COMPUTE_32F, which never rounds inputs to TF32.

Constants: cublas_api.h, cublasLt.h and library_types.h of CUDA 12.8 to 13; a test compares them with the headers.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from dataclasses import dataclass

from .errors import GemmlabError

WORKSPACE_BYTES = 32 << 20
HEURISTICS = 8

CUDA_TYPES = {
    "float32": 0,
    "float64": 1,
    "float16": 2,
    "int8": 3,
    "int32": 10,
    "bfloat16": 14,
    "float8_e4m3fn": 28,
    "float8_e5m2": 29,
}
COMPUTE = {
    "CUBLAS_COMPUTE_32F": 68,
    "CUBLAS_COMPUTE_32F_FAST_TF32": 77,
    "CUBLAS_COMPUTE_64F": 70,
    "CUBLAS_COMPUTE_32I": 72,
}
OP_N, OP_T = 0, 1
GEMM_DEFAULT = -1
DESC_TRANSA, DESC_TRANSB, DESC_FAST_ACCUM = 3, 4, 25
PREF_MAX_WORKSPACE_BYTES = 1
STATUS = {
    0: "SUCCESS",
    1: "NOT_INITIALIZED",
    3: "ALLOC_FAILED",
    7: "INVALID_VALUE",
    8: "ARCH_MISMATCH",
    11: "MAPPING_ERROR",
    13: "EXECUTION_FAILED",
    14: "INTERNAL_ERROR",
    15: "NOT_SUPPORTED",
    16: "LICENSE_ERROR",
}


class HeuristicResult(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t."""

    _fields_ = [
        ("algo", ctypes.c_uint64 * 8),
        ("workspace_size", ctypes.c_size_t),
        ("state", ctypes.c_int),
        ("waves", ctypes.c_float),
        ("reserved", ctypes.c_int * 4),
    ]


@dataclass(frozen=True)
class Problem:
    """A GEMM as the column-major library sees it: m x n x k, the first operand is our B and the second our A."""

    m: int
    n: int
    k: int
    op_first: int
    op_second: int
    ld_first: int
    ld_second: int
    ld_out: int
    type_first: int
    type_second: int
    type_out: int
    compute: int
    scale_type: int
    fast_accumulation: bool


def problem(
    M: int, N: int, K: int, a_dtype="float32", b_dtype=None, c_dtype=None, layout="row,row->row", tf32: bool = False
) -> Problem:
    """Translate a row-major GEMM into the library's terms.

    Layouts: "row,row->row" has A (M, K), B (K, N); "row,col->row" has B stored as (N, K), both operands K-major, the
    only form that FP8 takes. Raises GemmlabError for a type or layout that the libraries do not serve.
    """
    a, b, c = str(a_dtype), str(b_dtype or a_dtype), str(c_dtype or a_dtype)
    for name in (a, b, c):
        if name not in CUDA_TYPES:
            raise GemmlabError(f"cuBLAS rival: no data type {name!r}; known are {', '.join(CUDA_TYPES)}")
    if layout not in ("row,row->row", "row,col->row"):
        raise GemmlabError(f"cuBLAS rival: no layout {layout!r}; known are 'row,row->row' and 'row,col->row'")
    fp8 = a.startswith("float8")
    if fp8 and layout != "row,col->row":
        raise GemmlabError("cuBLAS rival: FP8 needs both operands K-major (layout 'row,col->row')")
    name = {"float64": "CUBLAS_COMPUTE_64F", "int8": "CUBLAS_COMPUTE_32I"}.get(a, "CUBLAS_COMPUTE_32F")
    if tf32:
        name = "CUBLAS_COMPUTE_32F_FAST_TF32"
    scale = {"float64": "float64", "int8": "int32"}.get(a, "float32")
    transposed = layout == "row,col->row"
    return Problem(
        N,
        M,
        K,
        OP_T if transposed else OP_N,
        OP_N,
        K if transposed else N,
        K,
        N,
        CUDA_TYPES[b],
        CUDA_TYPES[a],
        CUDA_TYPES[c],
        COMPUTE[name],
        CUDA_TYPES[scale],
        fp8,
    )


def _check(status: int, what: str):
    if status:
        raise GemmlabError(f"cuBLAS rival: {what} failed with {STATUS.get(status, 'status')} ({status})")


def library_names(stem: str, platform: str = sys.platform, majors=(13, 12)) -> list[str]:
    """Return the file names under which a cuBLAS library may be found, newest CUDA major version first."""
    if platform == "win32":
        return [f"{stem}64_{major}.dll" for major in majors]
    return [f"lib{stem}.so.{major}" for major in majors]


def load_library(stem: str, major: int | None = None) -> ctypes.CDLL:
    """Load "cublas" or "cublasLt" from the installed wheels or the system, of CUDA `major` where given.

    Raises GemmlabError that names what to install when neither has it.
    """
    tried = []
    try:
        from cuda.pathfinder import load_nvidia_dynamic_lib

        found = load_nvidia_dynamic_lib(stem)
        return ctypes.CDLL(found.abs_path)
    except Exception as error:  # noqa: BLE001 - the finder's errors differ by version; the system search follows
        tried.append(f"cuda.pathfinder: {str(error).splitlines()[0] if str(error) else type(error).__name__}")
    for name in library_names(stem, majors=(major,) if major else (13, 12)):
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            tried.append(str(error).splitlines()[0])
    raise GemmlabError(f"cannot load {stem} ({'; '.join(tried)}): install the nvidia-cublas wheel that matches CuPy")


class Cublas:
    """cuBLAS and cuBLASLt of this process on the current device, with one workspace. Needs CuPy and a GPU."""

    def __init__(self):
        import cupy

        major = cupy.cuda.runtime.runtimeGetVersion() // 1000
        self._lt, self._blas = load_library("cublasLt", major), load_library("cublas", major)
        self._declare()
        self.workspace = cupy.empty(WORKSPACE_BYTES, dtype=cupy.uint8)
        self.handle, self.lt_handle = ctypes.c_void_p(), ctypes.c_void_p()
        _check(self._blas.cublasCreate_v2(ctypes.byref(self.handle)), "cublasCreate")
        _check(
            self._blas.cublasSetWorkspace_v2(self.handle, self.workspace.data.ptr, WORKSPACE_BYTES),
            "cublasSetWorkspace",
        )
        _check(self._lt.cublasLtCreate(ctypes.byref(self.lt_handle)), "cublasLtCreate")
        number = ctypes.c_int()
        _check(self._blas.cublasGetVersion_v2(self.handle, ctypes.byref(number)), "cublasGetVersion")
        self.version = f"{number.value // 10000}.{number.value // 100 % 100}.{number.value % 100}"

    def _declare(self):
        """Give every function its argument types: ctypes would pass pointers and sizes as 32-bit integers."""
        p, i, z, u64, i64 = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_uint64, ctypes.c_int64
        for lib, name, types in (
            (self._blas, "cublasCreate_v2", [p]),
            (self._blas, "cublasSetStream_v2", [p, p]),
            (self._blas, "cublasSetWorkspace_v2", [p, p, z]),
            (self._blas, "cublasGetVersion_v2", [p, p]),
            (self._blas, "cublasGemmEx", [p, i, i, i, i, i, p, p, i, i, p, i, i, p, p, i, i, i, i]),
            *((self._lt, name, types) for name, types in LT_FUNCTIONS(p, i, z, u64, i64)),
        ):
            function = getattr(lib, name)
            function.argtypes, function.restype = types, i

    def default(self, prob: Problem):
        """Return run(a, b, c, stream): one `cublasGemmEx` with the library's own choice of kernel."""
        if prob.fast_accumulation:
            raise GemmlabError("cuBLAS rival: cublasGemmEx has no FP8; use cuBLASLt")
        one, zero = _scalars(prob.scale_type)

        def run(a, b, c, stream=0):
            _check(self._blas.cublasSetStream_v2(self.handle, stream), "cublasSetStream")
            _check(
                self._blas.cublasSetWorkspace_v2(self.handle, self.workspace.data.ptr, WORKSPACE_BYTES),
                "cublasSetWorkspace",
            )
            _check(
                self._blas.cublasGemmEx(
                    self.handle,
                    prob.op_first,
                    prob.op_second,
                    prob.m,
                    prob.n,
                    prob.k,
                    ctypes.byref(one),
                    b,
                    prob.type_first,
                    prob.ld_first,
                    a,
                    prob.type_second,
                    prob.ld_second,
                    ctypes.byref(zero),
                    c,
                    prob.type_out,
                    prob.ld_out,
                    prob.compute,
                    GEMM_DEFAULT,
                ),
                "cublasGemmEx",
            )

        return run

    def heuristics(self, prob: Problem) -> list:
        """Return up to eight run(a, b, c, stream) functions, in cuBLASLt's own order of preference."""
        plan = LtPlan(self._lt, prob)
        results = (HeuristicResult * HEURISTICS)()
        count = ctypes.c_int()
        _check(
            self._lt.cublasLtMatmulAlgoGetHeuristic(
                self.lt_handle,
                plan.desc,
                plan.first,
                plan.second,
                plan.out,
                plan.out,
                plan.preference,
                HEURISTICS,
                results,
                ctypes.byref(count),
            ),
            "cublasLtMatmulAlgoGetHeuristic",
        )
        one, zero = _scalars(prob.scale_type)

        def runner(algo):
            def run(a, b, c, stream=0):
                _check(
                    self._lt.cublasLtMatmul(
                        self.lt_handle,
                        plan.desc,
                        ctypes.byref(one),
                        b,
                        plan.first,
                        a,
                        plan.second,
                        ctypes.byref(zero),
                        c,
                        plan.out,
                        c,
                        plan.out,
                        ctypes.byref(algo),
                        self.workspace.data.ptr,
                        WORKSPACE_BYTES,
                        stream,
                    ),
                    "cublasLtMatmul",
                )

            return run

        return [runner(results[i].algo) for i in range(count.value) if results[i].state == 0]


def LT_FUNCTIONS(p, i, z, u64, i64):  # noqa: N802 - a table, kept out of the class
    """Return the cuBLASLt functions in use with their C argument types."""
    return (
        ("cublasLtCreate", [p]),
        ("cublasLtMatrixLayoutCreate", [p, i, u64, u64, i64]),
        ("cublasLtMatmulDescCreate", [p, i, i]),
        ("cublasLtMatmulDescSetAttribute", [p, i, p, z]),
        ("cublasLtMatmulPreferenceCreate", [p]),
        ("cublasLtMatmulPreferenceSetAttribute", [p, i, p, z]),
        ("cublasLtMatmulAlgoGetHeuristic", [p, p, p, p, p, p, p, i, p, p]),
        ("cublasLtMatmul", [p, p, p, p, p, p, p, p, p, p, p, p, p, p, z, p]),
    )


def _scalars(scale_type: int):
    kind = {CUDA_TYPES["float64"]: ctypes.c_double, CUDA_TYPES["int32"]: ctypes.c_int32}.get(scale_type, ctypes.c_float)
    return kind(1), kind(0)


class LtPlan:
    """The cuBLASLt descriptors of one problem: operation, three layouts, and a preference with the workspace limit."""

    def __init__(self, lt: ctypes.CDLL, prob: Problem):
        self.desc, self.preference = ctypes.c_void_p(), ctypes.c_void_p()
        _check(
            lt.cublasLtMatmulDescCreate(ctypes.byref(self.desc), prob.compute, prob.scale_type),
            "cublasLtMatmulDescCreate",
        )
        self._set(lt.cublasLtMatmulDescSetAttribute, self.desc, DESC_TRANSA, ctypes.c_int32(prob.op_first))
        self._set(lt.cublasLtMatmulDescSetAttribute, self.desc, DESC_TRANSB, ctypes.c_int32(prob.op_second))
        if prob.fast_accumulation:
            self._set(lt.cublasLtMatmulDescSetAttribute, self.desc, DESC_FAST_ACCUM, ctypes.c_int8(1))
        first, second = (prob.m, prob.k), (prob.k, prob.n)
        self.first = self._layout(lt, prob.type_first, first[::-1] if prob.op_first else first, prob.ld_first)
        self.second = self._layout(lt, prob.type_second, second[::-1] if prob.op_second else second, prob.ld_second)
        self.out = self._layout(lt, prob.type_out, (prob.m, prob.n), prob.ld_out)
        _check(lt.cublasLtMatmulPreferenceCreate(ctypes.byref(self.preference)), "cublasLtMatmulPreferenceCreate")
        self._set(
            lt.cublasLtMatmulPreferenceSetAttribute,
            self.preference,
            PREF_MAX_WORKSPACE_BYTES,
            ctypes.c_uint64(WORKSPACE_BYTES),
        )

    @staticmethod
    def _layout(lt, kind: int, shape: tuple[int, int], ld: int):
        layout = ctypes.c_void_p()
        _check(lt.cublasLtMatrixLayoutCreate(ctypes.byref(layout), kind, *shape, ld), "cublasLtMatrixLayoutCreate")
        return layout

    @staticmethod
    def _set(function, target, attribute: int, value):
        _check(function(target, attribute, ctypes.byref(value), ctypes.sizeof(value)), f"attribute {attribute}")
