"""The cuBLAS calls: what would be passed is compared with the headers, and with the library's own descriptors."""

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

from gemmlab.errors import GemmlabError
from gemmlab.measuring import cublas
from gemmlab.measuring.cublas import CUDA_TYPES, OP_N, OP_T, Library, LtPlan, Problem, problem
from gemmlab.measuring.rivals import WORKSPACE_BYTES


def header(name: str) -> str:
    """Return the text of a CUDA header from the wheels or a toolkit, or skip."""
    import site

    folders = [Path("/usr/local/cuda/include"), *Path("/usr/local").glob("cuda-*/include")]
    for packages in site.getsitepackages():
        folders += Path(packages).glob("nvidia/*/include")
    for folder in folders:
        if (folder / name).exists():
            return (folder / name).read_text(encoding="utf-8", errors="replace")
    pytest.skip(f"{name} is not installed here")


def constants(text: str, pattern: str) -> dict[str, int]:
    return {name: int(value) for name, value in re.findall(rf"\b({pattern})\s*=\s*(-?\d+)", text)}


def test_data_types_are_those_of_library_types_h():
    found = constants(header("library_types.h"), r"CUDA_R_\w+")
    names = {"float32": "32F", "float64": "64F", "float16": "16F", "int8": "8I", "int32": "32I", "bfloat16": "16BF",
             "float8_e4m3fn": "8F_E4M3", "float8_e5m2": "8F_E5M2"}  # fmt: skip
    assert CUDA_TYPES == {ours: found[f"CUDA_R_{theirs}"] for ours, theirs in names.items()}


def test_constants_are_those_of_cublas_api_h():
    text = header("cublas_api.h")
    found = constants(text, r"CUBLAS_COMPUTE_\w+")
    assert {name: found[name] for name in cublas.COMPUTE} == cublas.COMPUTE
    assert constants(text, r"CUBLAS_OP_[NT]") == {"CUBLAS_OP_N": OP_N, "CUBLAS_OP_T": OP_T}
    assert constants(text, r"CUBLAS_GEMM_DEFAULT")["CUBLAS_GEMM_DEFAULT"] == cublas.GEMM_DEFAULT
    found = constants(text, r"CUBLAS_STATUS_\w+")
    assert {f"CUBLAS_STATUS_{name}": value for value, name in cublas.STATUS.items()} == found


def test_constants_are_those_of_cublaslt_h():
    found = constants(header("cublasLt.h"), r"CUBLASLT_MATMUL_\w+")
    assert found["CUBLASLT_MATMUL_DESC_TRANSA"] == cublas.DESC_TRANSA
    assert found["CUBLASLT_MATMUL_DESC_TRANSB"] == cublas.DESC_TRANSB
    assert found["CUBLASLT_MATMUL_DESC_FAST_ACCUM"] == cublas.DESC_FAST_ACCUM
    assert found["CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES"] == cublas.PREF_MAX_WORKSPACE_BYTES


def test_heuristic_result_has_the_size_of_the_c_struct():
    # cublasLtMatmulAlgo_t is 8 x 64 bits, then size_t, enum, float and four ints: 64 + 8 + 4 + 4 + 16 bytes.
    assert ctypes.sizeof(cublas.HeuristicResult) == 96
    assert cublas.HeuristicResult.state.offset == 72


def column_major_gemm(p: Problem, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Do what the library would do with flat memory: column-major operands, leading dimensions, transposition."""

    def matrix(flat, rows, cols, ld):
        return np.lib.stride_tricks.as_strided(flat, (rows, cols), (flat.itemsize, ld * flat.itemsize))

    x = matrix(first, p.k, p.m, p.ld_first).T if p.op_first == OP_T else matrix(first, p.m, p.k, p.ld_first)
    y = matrix(second, p.n, p.k, p.ld_second).T if p.op_second == OP_T else matrix(second, p.k, p.n, p.ld_second)
    out = np.full(p.m * p.n, np.nan, np.float32)
    matrix(out, p.m, p.n, p.ld_out)[...] = x @ y
    return out


@pytest.mark.parametrize("layout", ["row,row->row", "row,col->row"])
def test_swapped_operands_give_the_row_major_product(layout):
    M, N, K = 5, 3, 7
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((M, K), np.float32), rng.standard_normal((K, N), np.float32)
    stored = np.ascontiguousarray(B.T) if layout == "row,col->row" else B
    C = column_major_gemm(problem(M, N, K, layout=layout), stored.ravel(), A.ravel()).reshape(M, N)
    np.testing.assert_allclose(C, A @ B, rtol=1e-5)


@pytest.mark.parametrize("layout", ["row,row->row", "row,col->row"])
def test_padded_rows_are_stepped_over(layout):
    M, N, K = 5, 3, 7
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((M, 8), np.float32), rng.standard_normal((K, N), np.float32)
    stored = np.pad(B.T if layout == "row,col->row" else B, ((0, 0), (0, 1)))
    prob = problem(M, N, K, layout=layout, rows=(8, stored.shape[1], N))
    C = column_major_gemm(prob, stored.ravel(), A.ravel()).reshape(M, N)
    np.testing.assert_allclose(C, A[:, :K] @ B, rtol=1e-5)


def test_fp32_never_asks_for_tf32():
    assert problem(8, 8, 8).compute == cublas.COMPUTE["CUBLAS_COMPUTE_32F"]
    assert problem(8, 8, 8, tf32=True).compute == cublas.COMPUTE["CUBLAS_COMPUTE_32F_FAST_TF32"]


def test_fp16_sums_in_fp32_unless_told_otherwise():
    assert problem(8, 8, 8, "float16").compute == cublas.COMPUTE["CUBLAS_COMPUTE_32F"]
    half = problem(8, 8, 8, "float16", acc_dtype="float16")
    assert half.compute == cublas.COMPUTE["CUBLAS_COMPUTE_16F"] and half.scale_type == CUDA_TYPES["float16"]
    one, zero = half.scalars()
    assert np.array([one.value, zero.value], np.uint16).view(np.float16).tolist() == [1, 0]


def test_int8_sums_in_int32():
    p = problem(8, 16, 32, "int8", "int8", "int32", "row,col->row", acc_dtype="int32")
    assert (p.compute, p.scale_type, p.type_out) == (cublas.COMPUTE["CUBLAS_COMPUTE_32I"], 10, 10)


def test_types_reach_the_right_operand():
    p = problem(8, 16, 32, "float8_e4m3fn", "float8_e5m2", "bfloat16", "row,col->row")
    assert (p.type_first, p.type_second, p.type_out) == (29, 28, 14) and p.fast_accumulation
    assert (p.ld_first, p.ld_second, p.ld_out) == (32, 32, 16)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"a_dtype": "float7"}, "no data type 'float7'"),
        ({"layout": "col,col->col"}, "no layout 'col,col->col'"),
        ({"a_dtype": "float8_e4m3fn", "c_dtype": "bfloat16"}, "FP8 needs both operands K-major"),
    ],
)
def test_what_the_libraries_do_not_serve_is_refused(arguments, message):
    with pytest.raises(GemmlabError, match=message):
        problem(8, 8, 8, **arguments)


def test_library_names_by_platform():
    assert cublas.library_names("cublasLt", "linux") == ["libcublasLt.so.13", "libcublasLt.so.12"]
    assert cublas.library_names("cublas", "win32", (12,)) == ["cublas64_12.dll"]


def test_missing_library_is_one_clear_line():
    with pytest.raises(GemmlabError, match="cannot load cublasNone .* install the nvidia-cublas wheel") as error:
        cublas.load_library("cublasNone")
    assert "\n" not in str(error.value)


class Failing:
    """Stands in for a loaded library whose every call returns status 15."""

    def __getattr__(self, name):
        def function(*_):
            return 15

        return function


def test_failing_status_is_named():
    with pytest.raises(GemmlabError, match=r"cublasLtCreate failed with NOT_SUPPORTED \(15\)"):
        Library(Failing(), {"cublasLtCreate": []}).create("cublasLtCreate")


FP8 = {"a_dtype": "float8_e4m3fn", "c_dtype": "bfloat16", "layout": "row,col->row"}


@pytest.mark.parametrize("arguments", [{}, {"a_dtype": "bfloat16"}, FP8], ids=["fp32", "bf16", "fp8"])
def test_descriptors_hold_what_we_meant(arguments):
    """Let the real library build the descriptors, which needs no GPU, and read rows, columns and ld back."""
    try:
        lt = Library(cublas.load_library("cublasLt"), cublas.LT_FUNCTIONS)
    except GemmlabError:
        pytest.skip("cuBLASLt is not installed here")
    plan = LtPlan(lt, problem(96, 64, 32, **arguments), WORKSPACE_BYTES)

    def read(layout):
        value = ctypes.c_uint64()
        values = []
        for attribute in (2, 3, 4):  # CUBLASLT_MATRIX_LAYOUT_ROWS, _COLS, _LD
            lt("cublasLtMatrixLayoutGetAttribute", layout, attribute, ctypes.byref(value), 8, None)
            values.append(value.value)
        return tuple(values)

    b = (32, 64, 32) if "layout" in arguments else (64, 32, 64)
    assert [read(plan.first), read(plan.second), read(plan.out)] == [b, (32, 96, 32), (64, 96, 64)]
