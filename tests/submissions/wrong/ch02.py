"""Wrong answers of chapter 02, each with what the check must say."""

WRONG = {
    "02.1": {
        "unfinished": {"source": "least_ms = ...", "says": r"02\.1 is not finished"},
        "one FLOP per multiply-add, or sparse": {"source": "least_ms = 4096**3 / 989.4e12 * 1e3", "says": "sparse"},
        "seconds": {"source": "least_ms = 2 * 4096**3 / 989.4e12", "says": "in seconds"},
        "microseconds": {"source": "least_ms = 138.9", "says": "in microseconds"},
        "FP32 cores": {"source": "least_ms = 2 * 4096**3 / 66.9e12 * 1e3", "says": "tensor cores"},
        "only the bytes": {"source": "least_ms = 3 * 4096**2 * 2 / 3.35e12 * 1e3", "says": "the longer one counts"},
        "the sum of both floors": {"source": "least_ms = 0.139 + 0.030", "says": "sum of two floors"},
        "text": {"source": "least_ms = '0.139 ms'", "says": "one number in ms, not str"},
        "NaN": {"source": "least_ms = float('nan')", "says": "one finite number"},
        "a truth value": {"source": "least_ms = True", "says": "not bool"},
    },
    "02.2": {
        "unfinished": {"source": "def intensity(M, N, K, size):\n    ...", "says": r"02\.2 is not finished"},
        "one FLOP per multiply-add": {"replace": [("2 * M", "M")], "says": "two FLOP"},
        "per element": {"replace": [(" * bytes_per_element", "")], "says": "FLOP per element"},
        "no write of C": {"replace": [(" + M * N)", ")")], "says": "write of C is missing"},
        "C read and written": {"replace": [("+ M * N)", "+ 2 * M * N)")], "says": "C is counted twice"},
        "upside down": {
            "source": "def intensity(M, N, K, size):\n    return size * (M*K + K*N + M*N) / (2*M*N*K)",
            "says": "FLOP per byte",
        },
        "naive traffic": {
            "source": "def intensity(M, N, K, size):\n    return 1 / size",
            "says": "moves only once",
        },
        "only for squares": {
            "source": "def intensity(M, N, K, size):\n    return 2 * M / (3 * size)",
            "says": r"M=16, N=12288, K=4096, bytes_per_element=2 returned",
        },
        "only the public inputs": {
            "source": (
                "def intensity(M, N, K, size):\n"
                "    return {(4096, 4096, 4096, 2): 4096 / 3, (4096, 4096, 4096, 4): 2048 / 3,\n"
                "            (16, 12288, 4096, 2): 15.91708548, (17, 33, 5, 1): 6.917387127}[M, N, K, size]"
            ),
            "hidden": True,
            "says": "a hidden input raised KeyError",
        },
        "raises": {"source": "def intensity(M, N, K):\n    return 1", "says": "raised TypeError"},
        "a number": {"source": "intensity = 1365.3", "says": "give the function itself"},
        "another function": {
            "source": "intensity = print",
            "says": "raised|not finished",
        },
    },
    "02.3": {
        "unfinished": {"source": "memory_bound = {...}", "says": r"02\.3 is not finished"},
        "empty": {"source": "memory_bound = set()", "says": "empty"},
        "decode only": {
            "source": "memory_bound = {'qkv_decode_16', 'ffn_down_decode_64'}",
            "says": "2 more belong there",
        },
        "every decode": {
            "source": "memory_bound = {'qkv_decode_16', 'ffn_down_decode_64', 'lm_head_decode_512'}",
            "says": "'lm_head_decode_512' does not belong: its ideal intensity is",
        },
        "everything": {"source": "memory_bound = set(gl.exercise('02.3').given)", "says": "does not belong"},
        "a misspelt name": {"source": "memory_bound = ['qkv-decode']", "says": "there is no 'qkv-decode'"},
        "numbers": {"source": "memory_bound = [1, 2]", "says": "give a set of names"},
    },
    "02.4": {
        "unfinished": {"source": "def attainable(i, p, b):\n    pass", "says": r"02\.4 is not finished"},
        "the higher ceiling": {"replace": [("min(", "max(")], "says": "the lower one counts"},
        "no peak": {
            "replace": [("min(peak, intensity * bandwidth)", "intensity * bandwidth")],
            "says": "right of the ridge",
        },
        "no memory": {"replace": [("min(peak, intensity * bandwidth)", "peak")], "says": "left of the ridge"},
        "divided": {"replace": [("intensity * bandwidth", "bandwidth / intensity")], "says": "multiply"},
        "TFLOP/s": {
            "replace": [("min(peak, intensity * bandwidth)", "min(peak, intensity * bandwidth) / 1e12")],
            "says": "in TFLOP/s",
        },
        "NaN": {"source": "def attainable(i, p, b):\n    return float('nan')", "says": "returned nan"},
    },
}
