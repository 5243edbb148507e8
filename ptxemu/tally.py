"""Accumulates the counters of one launch while it runs."""

from __future__ import annotations

import numpy as np

from . import counting
from .counters import Counters, Site


class Tally:
    """Executions per block and memory counts per instruction; ``result`` multiplies them out to :class:`Counters`."""

    def __init__(self, sites):
        self.sites = sites
        n_blocks = 1 + max((s.block for s in sites), default=0)
        self.warps = np.zeros(n_blocks, np.int64)
        self.threads = np.zeros(n_blocks, np.int64)
        self.memory = np.zeros((len(sites), counting.FIELDS), np.int64)
        self.skipped = {}
        self.space = {}

    def access(self, site, space, addr, lanes):
        """Count one memory instruction of ``lanes`` at byte addresses ``addr``."""
        info, row = self.sites[site], self.memory[site]
        nbytes = info.width * info.vec
        self.space[site] = space
        if space == "shared":
            merges = info.op == "ld" and not info.opcode.startswith("ldmatrix")
            counting.count_wavefronts(addr, lanes.tid, lanes.starts, nbytes, row, merges)
        elif space == "global":
            counting.count_sectors(addr, lanes.starts, nbytes, row)
        else:
            row[counting.REQUESTS] += lanes.warps
            row[counting.BYTES] += lanes.n * nbytes
            row[counting.THREADS] += lanes.n
            if space == "local":
                row[counting.SECTORS] += _local_sectors(addr, lanes, nbytes)

    def bulk(self, copy):
        """Count a bulk copy: one request, sectors by its addresses, wavefronts modelled as 128 bytes each."""
        for site in (copy.site, copy.site + 1):
            space, row = self.sites[site].space, self.memory[site]
            self.space[site] = space
            if copy.echo and space == "global":
                continue
            row[counting.REQUESTS] += 1
            row[counting.THREADS] += 1
            row[counting.BYTES] += copy.nbytes if space == "shared" else 16 * len(copy.span())
            if space == "shared":
                row[counting.WAVEFRONTS] += -(-copy.nbytes // 128)
                row[counting.IDEAL] += -(-copy.nbytes // 128)
            else:
                row[counting.SECTORS] += len(np.unique(copy.span() >> 5))

    def copy(self, copy, reads, lanes):
        """Count both halves of a cp.async of ``lanes``, of which those at ``reads`` (mask or slice) read."""
        reading = lanes if isinstance(reads, slice) else lanes.part(reads)
        source, target = self.memory[copy.site], self.memory[copy.site + 1]
        self.space[copy.site], self.space[copy.site + 1] = "global", "shared"
        if self.sites[copy.site].opcode.startswith("cp.async.cg"):
            counting.count_copy_sectors(copy.src[reads], copy.dst[reads], reading.starts, source)
            source[counting.REQUESTS] += reading.warps
            source[counting.BYTES] += reading.n * copy.nbytes
            source[counting.THREADS] += reading.n
        else:
            if reading.n:
                counting.count_sectors(copy.src[reads], reading.starts, copy.nbytes, source)
            read = np.full(lanes.n, -1)
            read[reads] = copy.src[reads]
            counting.count_copy_wavefronts(read, copy.dst, lanes.tid, lanes.starts, copy.nbytes, target)
        target[counting.REQUESTS] += lanes.warps
        target[counting.BYTES] += lanes.n * copy.nbytes
        target[counting.THREADS] += lanes.n

    def result(self):
        """The launch's :class:`Counters`."""
        return Counters([self._site(i, s) for i, s in enumerate(self.sites)])

    def _site(self, index, info):
        requests, sectors, wavefronts, ideal, nbytes, threads = (int(v) for v in self.memory[index])
        if not info.op:
            threads = int(self.threads[info.block]) - self.skipped.get(index, 0)
        space = self.space.get(index, info.space)
        place = info.opcode, info.file, info.line, info.ptx_line, space, info.op
        executions = 0 if info.op != "ld" and info.opcode.startswith("cp.") else int(self.warps[info.block])
        return Site(*place, executions, threads, requests, sectors, wavefronts, ideal, nbytes)


def _local_sectors(addr, lanes, nbytes):
    """Sectors of a local access, modelled: words are interleaved, so that one offset in 32 lanes is one 128-byte
    line.
    """
    row = np.zeros(counting.FIELDS, np.int64)
    for offset in range(0, nbytes, 4):
        word = ((addr + offset) >> 2) * 128 + (lanes.tid & 31) * 4
        counting.count_sectors(word, lanes.starts, 4, row)
    return int(row[counting.SECTORS])
