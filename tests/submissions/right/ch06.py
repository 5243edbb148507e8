"""Right answers of chapter 06 that differ from the model solutions."""

RIGHT = {
    "06.1": {
        "set of words for each bank": {
            "source": """def wavefronts(stride, width, period):
    lanes = 32 if width <= 4 else 128 // width
    total = 0
    for group in range(32 // lanes):
        banks = [set() for _ in range(32)]
        for lane in range(group * lanes, (group + 1) * lanes):
            first = lane % period * stride * width // 4
            for word in range(first, first + max(1, width // 4)):
                banks[word % 32].add(word)
        total += max(map(len, banks))
    return np.int64(total)
""",
        },
        "all groups alike": {
            "source": """def wavefronts(stride, width, period):
    lanes = min(32 * 4 // max(4, width), period)
    words = {(lane * stride * width + byte) // 4 for lane in range(lanes) for byte in range(width)}
    banks = [word % 32 for word in words]
    return max(1, width // 4) * max(banks.count(bank) for bank in banks)
""",
        },
    },
    "06.2": {
        "a rotation": {"source": "def idx(row, column):\n    return row * 32 + (column + row) % 32"},
        "a rotation by an odd number": {
            "source": "def idx(row, column):\n    return np.int64(row * 32 + (column - 5 * row) % 32)"
        },
        "rows in another order": {"source": "def idx(row, column):\n    return (row ^ 21) * 32 + (column ^ row)"},
    },
    "06.3": {
        "chunks rotated": {
            "source": "def idx(row, column):\n    return row * 32 + 4 * ((column // 4 + row) % 8) + column % 4"
        },
        "with shifts": {"source": "def idx(row, column):\n    return row << 5 | (column ^ (row & 7) << 2)"},
    },
    "06.4": {
        "a swizzle in place of padding": {
            "replace": [
                ("PITCH = TILE + 2", "PITCH = TILE"),
                ("smem_a[tx, ty] =", "smem_a[tx, ty ^ (tx // 2 * 2)] ="),
                ("smem_a[k, ty]", "smem_a[k, ty ^ (k // 2 * 2)]"),
            ]
        },
        "eighteen": {"replace": [("PITCH = TILE + 2", "PITCH = 18")]},
    },
}
