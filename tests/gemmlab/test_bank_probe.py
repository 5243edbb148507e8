"""The probe that counts the wavefronts of any 32 addresses."""

import pytest

from gemmlab.bank_probe import wavefronts


@pytest.mark.parametrize(
    "pitch, width, expected",
    [
        (128, 4, (32, 1)),
        (132, 4, (1, 1)),
        (0, 4, (1, 1)),
        (128, 8, (32, 2)),
        (128, 16, (32, 4)),
        (144, 16, (4, 4)),
        (64, 2, (16, 1)),
        (2, 2, (1, 1)),
    ],
)
def test_a_column(pitch, width, expected):
    assert wavefronts([pitch * lane for lane in range(32)], width) == expected
