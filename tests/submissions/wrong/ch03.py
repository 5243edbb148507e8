"""Wrong answers of chapter 03, each with what the check must say. Most are mutations of the model solutions."""

GUARD = "if m < C.shape[0] and n < C.shape[1]:"
LOOP = "for k in range(A.shape[1]):"
STORE = "C[m, n] = acc"


def kernel(*lines, name="gemm"):
    """Return a Numba kernel with this body."""
    return "\n".join(["@cuda.jit", f"def {name}(A, B, C):", *("    " + line for line in lines)])


WRONG = {
    "03.1": {
        "unfinished": {
            "source": kernel("m, n = cuda.grid(2)", "acc = float32(0.0)", "..."),
            "says": r"03\.1 is not finished: the kernel writes nothing to C",
        },
        "no guard": {"replace": [(GUARD, "if True:")], "says": "out-of-bounds"},
        "or for and": {"replace": [(" and n", " or n")], "says": "out-of-bounds"},
        "guard on rows only": {"replace": [(" and n < C.shape[1]", "")], "says": "out-of-bounds"},
        "guard cuts too early": {
            "replace": [("m < C.shape[0]", "m < C.shape[0] - 1")],
            "says": "never written.*direction of M",
        },
        "indices swapped": {"replace": [("m, n = cuda.grid(2)", "n, m = cuda.grid(2)")], "says": "never written"},
        "transposed store": {"replace": [(STORE, "C[n, m] = acc")], "says": "transpose|out-of-bounds"},
        "K tail dropped": {
            "replace": [(LOOP, "for k in range(A.shape[1] // 8 * 8):")],
            "says": "K tail|nothing is added",
        },
        "loop one short": {
            "replace": [(LOOP, "for k in range(A.shape[1] - 1):")],
            "says": "K tail|last 1 of|nothing is",
        },
        "loop one too long": {
            "replace": [(LOOP, "for k in range(A.shape[1] + 1):")],
            "says": "too far|out-of-bounds",
        },
        "loop over N": {"replace": [(LOOP, "for k in range(C.shape[1]):")], "says": "out-of-bounds"},
        "f64 accumulator": {"replace": [("float32(0.0)", "0.0")], "says": r"float64"},
        "local index": {
            "replace": [("m, n = cuda.grid(2)", "m, n = cuda.threadIdx.x, cuda.threadIdx.y")],
            "says": "never written|race|two threads",
        },
        "sum kept in C": {
            "replace": [
                (LOOP, f"C[m, n] = 0\n        {LOOP}"),
                ("acc += A[m, k] * B[k, n]", "C[m, n] += A[m, k] * B[k, n]"),
                (STORE, "pass"),
            ],
            "says": r"C is stored \S+ times per element",
        },
        "adds to what C held": {"replace": [(STORE, "C[m, n] += acc")], "says": "adds to what C held"},
        "overwrites instead of adding": {"replace": [("acc +=", "acc =")], "says": "only the last product"},
        "B read by rows": {"replace": [("B[k, n]", "B[n, k]")], "says": r"B\[n, k\]|out-of-bounds|Bᵀ"},
        "NaN everywhere": {"replace": [(STORE, "C[m, n] = acc * float32(np.nan)")], "says": "NaN"},
        "half of the result": {"replace": [(STORE, "C[m, n] = acc * float32(0.5)")], "says": "0.5 times"},
        "twice the result": {"replace": [(STORE, "C[m, n] = acc + acc")], "says": "exactly twice"},
        "even blocks only": {
            "replace": [(GUARD, f"if cuda.blockIdx.x % 2 == 0 and cuda.blockIdx.y % 2 == 0:\n      {GUARD}")],
            "says": "never written",
        },
        "inputs changed": {"replace": [(STORE, f"{STORE}\n        A[m, 0] = 0")], "says": "(?i)A .*chang|race|written"},
        "writes nothing": {"replace": [(STORE, "pass")], "says": r"03\.1 is not finished"},
        "a CPU function": {
            "source": "def gemm(A, B, C):\n    C[:] = A @ B",
            "says": "Numba",
        },
        "the result of a launch": {"source": "gemm = None", "says": r"03\.1 is not finished"},
        "text": {"source": "gemm = 'k03_naive'", "says": "written in the answer cell"},
        "shape as shared memory size": {
            "source": kernel(
                "tile = cuda.shared.array((A.shape[1], 8), float32)", "tile[0, 0] = A[0, 0]", "C[0, 0] = tile[0, 0]"
            ),
            "says": "must be a constant",
        },
        "runs backwards out of A for ever": {
            "replace": [(LOOP, "k = 0\n        while k < A.shape[1]:\n            k -= 1")],
            "says": r"threads loop at .*\[livelock\]",
        },
        "never ends": {
            "replace": [(LOOP, "k = 0\n        while k < A.shape[1]:")],
            "says": r"threads loop at .*\[livelock\]",
        },
    },
    "03.2": {
        "unfinished": {"source": "requested_intensity = ...", "says": r"03\.2 is not finished"},
        "as in FP32": {"source": "requested_intensity = 0.25", "says": "FP16 element has 2 bytes"},
        "per element": {"source": "requested_intensity = 1", "says": "per element"},
        "per step": {"source": "requested_intensity = 2", "says": "divide by the bytes"},
        "with the accumulator": {"source": "requested_intensity = 2 / 6", "says": "stays in a register"},
        "ideal": {"source": "requested_intensity = 1365.3", "says": "too large"},
        "text": {"source": "requested_intensity = '1/2'", "says": "not str"},
    },
    "03.3": {
        "no extern C": {"replace": [('extern "C" ', "")], "says": 'write extern "C" in front'},
        "unfinished": {
            "source": '%%cuda twin\nextern "C" __global__ void twin(const float* A, const float* B, float* C, '
            "int M, int N, int K) {\n    // sum over k, then store\n}",
            "says": r"03\.3 is not finished",
        },
        "leading dimension of A": {
            "replace": [("A[m * K + k]", "A[m * N + k]")],
            "says": "N as its leading|out-of-bounds",
        },
        "leading dimension of B": {
            "replace": [("B[k * N + n]", "B[k * K + n]")],
            "says": "K as its leading|out-of-bounds",
        },
        "leading dimension of C": {"replace": [("C[m * N + n]", "C[m * M + n]")], "says": "never written|race on C"},
        "B transposed": {"replace": [("B[k * N + n]", "B[n * K + k]")], "says": r"B\[n, k\]|Bᵀ"},
        "no guard": {"replace": [("if (m >= M || n >= N) return;", "")], "says": "out-of-bounds"},
        "and for or": {"replace": [("m >= M || n >= N", "m >= M && n >= N")], "says": "out-of-bounds"},
        "short indices": {
            "replace": [("int m =", "char m ="), ("int n =", "char n =")],
            "says": "rows 128–299 of 300 never written",
        },
        "double accumulator": {"replace": [("float acc", "double acc")], "says": "float64"},
        "sum in int": {"replace": [("float acc", "int acc")], "says": "C is wrong|C is zero"},
        "argument order": {"replace": [("int M, int N, int K", "int N, int M, int K")], "says": "never written"},
        "one parameter too few": {
            "replace": [("int M, int N, int K) {", "int M, int N) {\n    const int K = 64;")],
            "says": "takes 5 arguments .*got 6",
        },
        "syntax error": {"replace": [("acc = 0.0f;", "acc = 0.0f")], "says": "refuses"},
        "Numba instead": {"source": kernel("C[0, 0] = A[0, 0]", name="twin"), "says": r"CUDA C\+\+ kernel"},
    },
    "03.4": {
        "as given": {
            "source": kernel(
                "m, n = cuda.grid(2)",
                "acc = 0.0",
                "if m < C.shape[0] or n < C.shape[1]:",
                "    for k in range(A.shape[1]):",
                "        acc += A[m, k] * B[k, n]",
                "    C[n, m] = acc",
                name="repaired",
            ),
            "says": "out-of-bounds|transpose",
        },
        "guard left": {"replace": [(" and n", " or n")], "says": "out-of-bounds"},
        "store left": {"replace": [(STORE, "C[n, m] = acc")], "says": "transpose|out-of-bounds"},
        "double left": {"replace": [("acc = float32(0.0)", "acc = 0.0")], "says": r"line \d+: .*float64"},
        "double from a literal": {"replace": [("A[m, k] * B", "1.5 * A[m, k] / 1.5 * B")], "says": "float64"},
        "guard too strict": {
            "replace": [("n < C.shape[1]", "n < C.shape[1] - 1")],
            "says": "never written.*direction of N",
        },
        "loop broken on the way": {
            "replace": [(LOOP, "for k in range(1, A.shape[1]):")],
            "says": "first 1 of|nothing is",
        },
    },
}
