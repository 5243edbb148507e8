"""Right answers of chapter 02 that differ from the model solutions."""

RIGHT = {
    "02.1": {
        "rounded to two digits": {"source": "least_ms = 0.14"},
        "a NumPy scalar from tera units": {
            "source": "least_ms = np.float64(2) * 4.096**3 * 1e9 / 989.4e12 * 1e3",
        },
    },
    "02.2": {
        "from the reciprocals of the sizes": {
            "source": "def intensity(M, N, K, size):\n    return 2 / size / (1 / M + 1 / N + 1 / K)",
        },
    },
    "02.3": {
        "computed from the table": {
            "source": (
                "memory_bound = []\n"
                "for name, (M, N, K) in gl.exercise('02.3').given.items():\n"
                "    if M * N * K / (M * K + K * N + M * N) < 989 / 4.8:\n"
                "        memory_bound.append(name)"
            ),
        },
    },
    "02.4": {
        "by cases": {
            "source": (
                "def attainable(intensity, peak, bandwidth):\n"
                "    if intensity >= peak / bandwidth:\n"
                "        return peak\n"
                "    return bandwidth * intensity"
            ),
        },
        "a lambda over NumPy": {"source": "attainable = lambda i, p, b: np.minimum(p, i * b)"},
    },
}
