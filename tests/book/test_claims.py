"""The arithmetic behind book/what_guides_get_wrong.md: each test repeats one entry's numbers."""

import numpy as np
import pytest

LANES = np.arange(32)


def ways(words: np.ndarray) -> int:
    """Largest number of different words that lanes want from one of 32 banks."""
    return max(len({int(w) for w in words if w % 32 == bank}) for bank in range(32))


def sectors(byte_addresses: np.ndarray) -> int:
    return len({int(address) // 32 for address in byte_addresses})


def test_register_file():
    assert 65536 * 4 == 256 * 1024


def test_shared_memory_bandwidth():
    low, high = (132 * 128 * clock for clock in (1.83e9, 1.98e9))
    assert low / 1e12 == pytest.approx(30.9, abs=0.05) and high / 1e12 == pytest.approx(33.5, abs=0.05)
    assert low / 3.35e12 == pytest.approx(9.2, abs=0.05) and high / 3.35e12 == pytest.approx(10.0, abs=0.05)


def test_growth_of_compute():
    assert 9000 / 125 == 72 and 2250 / 125 == 18 and 8 / 0.9 == pytest.approx(8.9, abs=0.05)


def test_intensity_of_a_square_product():
    n = 4096
    assert 2 * n**3 / (3 * n * n * 4) == pytest.approx(682.7, abs=0.05)
    assert 2 * n**3 / (3 * n * n * 2) == pytest.approx(1365, abs=0.5)


def test_time_of_a_large_fp16_product():
    n = 8192
    assert 2 * n**3 / 989e12 * 1e3 == pytest.approx(1.11, abs=0.005)
    assert 3 * n * n * 2 / 3.35e12 * 1e3 == pytest.approx(0.12, abs=0.005)


def test_too_few_tiles():
    assert (1024 // 128) ** 2 == 64 and 64 / 108 * 19.5 == pytest.approx(11.6, abs=0.05)


def test_intensity_of_the_naive_kernel():
    flop, requested = 2 * 1024**3, 2 * 1024**3 * 4
    assert flop / requested == 0.25
    assert requested == 8 * 2**30 and flop / 8e9 == pytest.approx(0.27, abs=0.005)


def test_naive_kernel_without_reuse():
    assert 0.25 * 1555 == pytest.approx(389, abs=0.5)
    implied = [0.08 / 0.005, 3 / 0.15, 10 / 0.5, 16 / 0.8]
    assert min(implied) == 16 and max(implied) == 20


def test_warp_of_a_square_block():
    x, y = LANES % 16, LANES // 16
    N = K = 1024
    assert len(set(y)) == 2
    assert sectors(4 * (y * K)) == 2  # A[row, 0]: two addresses
    assert sectors(4 * x) == 2  # B[0, col]: 64 bytes
    assert sectors(4 * (y * N + x)) == 4  # C[row, col]: two pieces of 64 bytes


def test_square_tile_of_sixteen():
    rows, columns = np.arange(16), np.arange(16)
    assert ways(16 * rows) == 8 and ways(columns) == 1


@pytest.mark.parametrize("width", [32, 64, 128])
def test_xor_of_words(width):
    column = 5
    assert ways(width * LANES + (column ^ (LANES % 8))) == 4
    assert ways(width * LANES + (column ^ (LANES % 32))) == 1


def test_one_element_per_thread_fills_square_tiles_only():
    def filled(BM, BN, BK):
        return {(ty, tx) for ty in range(BM) for tx in range(BN)} == {(m, k) for m in range(BM) for k in range(BK)}

    assert filled(16, 16, 16) and not filled(16, 32, 8) and not filled(16, 32, 64)


def test_chunk_swizzle_serves_eight_lanes_at_a_time():
    rows = np.arange(8)
    words = [32 * r + 4 * (0 ^ r) + i for r in rows for i in range(4)]
    assert ways(np.array(words)) == 1
    assert ways(np.array([32 * r + i for r in rows for i in range(4)])) == 8  # ldmatrix's rows, not swizzled


def test_traffic_of_tiles():
    M = N = K = 256
    BM = BN = 32
    BK = 16
    per_tile = K // BK * (BM * BK + BK * BN)
    total = (M // BM) * (N // BN) * per_tile
    assert total == M * N * K // 16 == 2 * M * N * K // 32
    assert total == pytest.approx(M * N * K * (1 / BM + 1 / BN))


def test_intensity_of_register_tiles():
    TM = TN = 8
    per_element = 2 * TM * TN / (TM + TN)
    assert per_element == 8 and per_element / 4 == 2


def test_padding_by_one_misaligns():
    pitch = (128 + 1) * 4
    assert [row * pitch % 16 == 0 for row in range(4)] == [True, False, False, False]
    assert (128 + 4) * 4 % 16 == 0


def test_tail():
    rounds = -(-133 // 132)
    assert rounds == 2 and 133 / (rounds * 132) == pytest.approx(0.5, abs=0.005)


def test_grid_swizzle_needs_a_multiple_of_eight():
    def tiles(gx, gy, w=8):
        return [(i % w + i // (w * gy) * w, i // w % gy) for i in range(gx * gy)]

    assert sorted(tiles(16, 9)) == sorted((x, y) for x in range(16) for y in range(9))
    inside = {tile for tile in tiles(9, 9) if tile[0] < 9}
    assert 81 - len(inside) == 7 and sum(x >= 9 for x, _ in tiles(9, 9)) == 7


def test_third_block():
    assert 3 * 256 * 96 == 73728 > 65536


def test_tensor_core_registers():
    assert 64 * 256 // 128 == 128 and 64 * 128 // 128 == 64
    assert 2048 / (32 * 10) == 6.4 and 128 * 512 * 4 == 256 * 1024
