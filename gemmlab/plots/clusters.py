"""What a cluster of CTAs asks of L2 when its CTAs share strips of A and B by multicast."""

from __future__ import annotations

from dataclasses import dataclass

from gemmlab.errors import GemmlabError


@dataclass(frozen=True)
class Traffic:
    """Bytes that one step of BK asks of L2 for a cluster: `alone`, each CTA for itself; `shared`, with multicast."""

    alone: int
    shared: int

    @property
    def saved(self) -> float:
        """The share that multicast saves."""
        return 1 - self.shared / self.alone


def cluster_traffic(rows: int, columns: int, BM: int, BN: int, BK: int, itemsize: int = 2) -> Traffic:
    """Return the Traffic of a cluster of `rows` × `columns` CTAs (along M and N) with tiles of BM × BN (derived).

    A strip of A serves the CTAs of a row, a strip of B those of a column. Raises GemmlabError for sizes below 1.
    """
    if min(rows, columns, BM, BN, BK, itemsize) < 1:
        raise GemmlabError(f"cluster {rows} × {columns} with tiles {BM} × {BN} × {BK}: every size is at least 1")
    a, b = BM * BK * itemsize, BN * BK * itemsize
    return Traffic(rows * columns * (a + b), rows * a + columns * b)
