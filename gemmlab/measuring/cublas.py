"""cuBLAS and cuBLASLt through ctypes: constants, descriptors, and a row-major GEMM in the libraries' own terms.

CuPy has no heuristics API, so both libraries are called directly. They are column-major. A row-major (M, N) array is
the same memory as a column-major (N, M) one, so C = A @ B is asked for as Cᵀ = Bᵀ @ Aᵀ: B goes in first, A second,
M and N change places, and nothing is copied.

Constants and signatures: cublas_api.h, cublasLt.h and library_types.h of CUDA 12.8 to 13; a test compares them with
the headers.
"""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass

from gemmlab.errors import GemmlabError

CUDA_TYPES = {
    "float32": 0, "float64": 1, "float16": 2, "int8": 3, "int32": 10, "bfloat16": 14, "float8_e4m3fn": 28,
    "float8_e5m2": 29,
}  # fmt: skip
COMPUTE = {
    "CUBLAS_COMPUTE_16F": 64, "CUBLAS_COMPUTE_32F": 68, "CUBLAS_COMPUTE_32F_FAST_TF32": 77, "CUBLAS_COMPUTE_64F": 70,
    "CUBLAS_COMPUTE_32I": 72,
}  # fmt: skip
STATUS = {
    0: "SUCCESS", 1: "NOT_INITIALIZED", 3: "ALLOC_FAILED", 7: "INVALID_VALUE", 8: "ARCH_MISMATCH", 11: "MAPPING_ERROR",
    13: "EXECUTION_FAILED", 14: "INTERNAL_ERROR", 15: "NOT_SUPPORTED", 16: "LICENSE_ERROR",
}  # fmt: skip
OP_N, OP_T = 0, 1
ONE_HALF = 0x3C00  # the bits of 1.0 in float16
GEMM_DEFAULT = -1
DESC_TRANSA, DESC_TRANSB, DESC_FAST_ACCUM = 3, 4, 25
PREF_MAX_WORKSPACE_BYTES = 1

_P, _I, _Z, _U64, _I64 = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_uint64, ctypes.c_int64
BLAS_FUNCTIONS = {
    "cublasCreate_v2": [_P],
    "cublasSetStream_v2": [_P, _P],
    "cublasSetWorkspace_v2": [_P, _P, _Z],
    "cublasGetVersion_v2": [_P, _P],
    "cublasGemmEx": [_P, *[_I] * 5, _P, _P, _I, _I, _P, _I, _I, _P, _P, _I, _I, _I, _I],
}
LT_FUNCTIONS = {
    "cublasLtCreate": [_P],
    "cublasLtMatrixLayoutCreate": [_P, _I, _U64, _U64, _I64],
    "cublasLtMatrixLayoutGetAttribute": [_P, _I, _P, _Z, _P],
    "cublasLtMatmulDescCreate": [_P, _I, _I],
    "cublasLtMatmulDescSetAttribute": [_P, _I, _P, _Z],
    "cublasLtMatmulPreferenceCreate": [_P],
    "cublasLtMatmulPreferenceSetAttribute": [_P, _I, _P, _Z],
    "cublasLtMatmulAlgoGetHeuristic": [*[_P] * 7, _I, _P, _P],
    "cublasLtMatmul": [*[_P] * 14, _Z, _P],
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
    """A GEMM as the column-major library sees it: m x n x k; the first operand is our B and the second our A."""

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

    def scalars(self):
        """Return alpha = 1 and beta = 0 in the type that the library expects."""
        if self.scale_type == CUDA_TYPES["float16"]:
            return ctypes.c_uint16(ONE_HALF), ctypes.c_uint16(0)
        kinds = {CUDA_TYPES["float64"]: ctypes.c_double, CUDA_TYPES["int32"]: ctypes.c_int32}
        kind = kinds.get(self.scale_type, ctypes.c_float)
        return kind(1), kind(0)


def problem(
    M: int,
    N: int,
    K: int,
    a_dtype="float32",
    b_dtype=None,
    c_dtype=None,
    layout="row,row->row",
    tf32: bool = False,
    acc_dtype="float32",
    rows: tuple[int, int, int] | None = None,
) -> Problem:
    """Translate a row-major GEMM into the library's terms.

    Layouts: "row,row->row" has A (M, K) and B (K, N); "row,col->row" has B stored as (N, K), both operands K-major,
    the only form that FP8 takes. FP32 is CUBLAS_COMPUTE_32F, which never rounds inputs to TF32, unless `tf32`. FP16
    is summed in FP32 unless `acc_dtype` is float16. `rows`: elements from row to row of A, B and C, where padded.
    Raises GemmlabError for a type or layout that the libraries do not serve.
    """
    a, b, c = str(a_dtype), str(b_dtype or a_dtype), str(c_dtype or a_dtype)
    for name in (a, b, c):
        if name not in CUDA_TYPES:
            raise GemmlabError(f"cuBLAS rival: no data type {name!r}; known are {', '.join(CUDA_TYPES)}")
    if layout not in ("row,row->row", "row,col->row"):
        raise GemmlabError(f"cuBLAS rival: no layout {layout!r}; known are 'row,row->row' and 'row,col->row'")
    fp8, b_k_major = a.startswith("float8"), layout == "row,col->row"
    if fp8 and not b_k_major:
        raise GemmlabError("cuBLAS rival: FP8 needs both operands K-major (layout 'row,col->row')")
    compute = {"float64": "CUBLAS_COMPUTE_64F", "int8": "CUBLAS_COMPUTE_32I"}.get(a, "CUBLAS_COMPUTE_32F")
    scale = {"float64": "float64", "int8": "int32"}.get(a, "float32")
    if (a, str(acc_dtype)) == ("float16", "float16"):
        compute, scale = "CUBLAS_COMPUTE_16F", "float16"
    row_a, row_b, row_c = rows or (K, K if b_k_major else N, N)
    return Problem(
        m=N, n=M, k=K,
        op_first=OP_T if b_k_major else OP_N, op_second=OP_N,
        ld_first=row_b, ld_second=row_a, ld_out=row_c,
        type_first=CUDA_TYPES[b], type_second=CUDA_TYPES[a], type_out=CUDA_TYPES[c],
        compute=COMPUTE["CUBLAS_COMPUTE_32F_FAST_TF32" if tf32 else compute],
        scale_type=CUDA_TYPES[scale], fast_accumulation=fp8,
    )  # fmt: skip


class Library:
    """A loaded cuBLAS library whose calls are type-checked and whose failures are exceptions."""

    def __init__(self, cdll: ctypes.CDLL, functions: dict[str, list]):
        self._functions = {}
        for name, types in functions.items():
            function = getattr(cdll, name)
            function.argtypes, function.restype = types, ctypes.c_int
            self._functions[name] = function

    def __call__(self, name: str, *args):
        """Call one function. Raises GemmlabError with the status' name unless it succeeds."""
        status = self._functions[name](*args)
        if status:
            raise GemmlabError(f"cuBLAS rival: {name} failed with {STATUS.get(status, 'status')} ({status})")

    def create(self, name: str, *args) -> ctypes.c_void_p:
        """Call a constructor and return the handle that it makes."""
        handle = ctypes.c_void_p()
        self(name, ctypes.byref(handle), *args)
        return handle

    def set(self, name: str, target, attribute: int, value):
        """Set one attribute of a descriptor to a ctypes scalar."""
        self(name, target, attribute, ctypes.byref(value), ctypes.sizeof(value))


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

        return ctypes.CDLL(load_nvidia_dynamic_lib(stem).abs_path)
    except Exception as error:  # the finder's exceptions differ by version; the system search follows
        tried.append((str(error) or type(error).__name__).splitlines()[0])
    for name in library_names(stem, majors=(major,) if major else (13, 12)):
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            tried.append(str(error).splitlines()[0])
    raise GemmlabError(f"cannot load {stem} ({'; '.join(tried)}): install the nvidia-cublas wheel that matches CuPy")


class LtPlan:
    """The cuBLASLt descriptors of one problem: operation, three layouts, and a preference with the workspace limit."""

    def __init__(self, lt: Library, prob: Problem, workspace_bytes: int):
        self.desc = lt.create("cublasLtMatmulDescCreate", prob.compute, prob.scale_type)
        set_desc = "cublasLtMatmulDescSetAttribute"
        lt.set(set_desc, self.desc, DESC_TRANSA, ctypes.c_int32(prob.op_first))
        lt.set(set_desc, self.desc, DESC_TRANSB, ctypes.c_int32(prob.op_second))
        if prob.fast_accumulation:
            lt.set(set_desc, self.desc, DESC_FAST_ACCUM, ctypes.c_int8(1))
        first = (prob.k, prob.m) if prob.op_first == OP_T else (prob.m, prob.k)
        layout = "cublasLtMatrixLayoutCreate"
        self.first = lt.create(layout, prob.type_first, *first, prob.ld_first)
        self.second = lt.create(layout, prob.type_second, prob.k, prob.n, prob.ld_second)
        self.out = lt.create(layout, prob.type_out, prob.m, prob.n, prob.ld_out)
        self.preference = lt.create("cublasLtMatmulPreferenceCreate")
        limit = ctypes.c_uint64(workspace_bytes)
        lt.set("cublasLtMatmulPreferenceSetAttribute", self.preference, PREF_MAX_WORKSPACE_BYTES, limit)
