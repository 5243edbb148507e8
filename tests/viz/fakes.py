"""Hand-made trace records with the fields of `ptxemu.Access`, for tests that need no emulator."""

from dataclasses import dataclass

import numpy as np

M = N = K = 32


@dataclass
class Site:
    """The fields of an emulator site that pictures read."""

    line: int
    ptx_line: int
    opcode: str = "ld.global.f32"


@dataclass
class Access:
    """The fields of `ptxemu.Access`: byte addresses of 32 lanes, -1 where a lane is idle."""

    site: Site
    addresses: np.ndarray
    space: str = "global"
    kind: str = "ld"
    name: str | None = "A"
    base: int = 0x10000
    width: int = 4
    cta: tuple = (0, 0, 0)
    warp: int = 0
    itemsize: int = 4


def naive(k: int = 0) -> list[Access]:
    """Return the two reads and the write of a warp that runs down a column of C, at loop step k."""
    lane = np.arange(32)
    return [
        Access(Site(7, 40), 0x10000 + 4 * (lane * K + k), name="A"),
        Access(Site(7, 42), 0x20000 + 4 * (k * N + 0 * lane), name="B", base=0x20000),
        Access(Site(8, 60, "st.global.f32"), 0x30000 + 4 * (lane * N), name="C", base=0x30000, kind="st"),
    ]


def coalesced(k: int = 0) -> list[Access]:
    """Return the accesses of a warp that runs along a row of C, at loop step k."""
    lane = np.arange(32)
    return [
        Access(Site(7, 40), 0x10000 + 4 * (0 * lane + k), name="A"),
        Access(Site(7, 42), 0x20000 + 4 * (k * N + lane), name="B", base=0x20000),
        Access(Site(8, 60, "st.global.f32"), 0x30000 + 4 * lane, name="C", base=0x30000, kind="st"),
    ]


def shared(stride: int, width: int = 4, lanes: int = 32) -> Access:
    """Return a shared-memory read whose lane i reads byte i * stride * width."""
    lane = np.arange(32)
    addresses = np.where(lane < lanes, lane * stride * width, -1)
    return Access(Site(21, 90, "ld.shared.f32"), addresses, space="shared", name=None, base=0, width=width)


LDMATRIX = "ldmatrix.sync.aligned.m8n8.x4.shared.b16"


def matrix_load(columns: list[int], opcode: str = LDMATRIX, pitch: int = 128) -> Access:
    """Return a matrix load whose lane i reads 16 bytes at row i, chunk columns[i]; -1 stands for an idle lane."""
    lane, column = np.arange(32), np.array(columns)
    addresses = np.where(column < 0, -1, lane * pitch + 16 * column)
    return Access(Site(9, 30, opcode), addresses, space="shared", name=None, base=0, width=16)
