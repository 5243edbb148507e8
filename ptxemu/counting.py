"""Loops over the lanes of a memory instruction that count what the memory system does with it. Compiled by Numba,
cached on disk.

The rules give the profiler's counts on an H200 for every pattern of tests/ptxemu/data/patterns_nvidia_h200.json.

Global memory: a request is one warp-level instruction; its sectors are the distinct 32-byte sectors that its active
lanes touch (``l1tex__t_requests_pipe_lsu_mem_global_op_*``, ``l1tex__t_sectors_pipe_lsu_mem_global_op_*``).

Shared memory: 32 banks of 4 bytes. A wavefront serves any set of words with at most one word per bank; lanes that want
the same word, or parts of it, share it. 64-bit accesses are served by half-warps, 128-bit ones by quarter-warps
(``l1tex__data_pipe_lsu_wavefronts_mem_shared_op_*``). A load serves two neighbouring halves or quarters together where
all active lanes i and i ^ 1, or all i and i ^ 2, of the two want the same address; a store never does, nor does
ldmatrix, each of whose matrices is a quarter-warp. The ideal is one wavefront for every group served, so that the
excess is ``l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_*``.

cp.async.ca is served in the groups of a store of its size, but a wavefront reads L1 and writes shared memory at once,
and no two lanes share a word on either side: a group takes the largest number of lanes' words in one bank of either. A
group of lanes in more than four lines of 128 bytes is served in parts of four lines, each with an ideal of one.
cp.async.cg passes the banks by: its wavefronts are zero, but its sectors are the distinct pairs of a source sector and
a destination sector, so that a copy whose two halves of a sector go to different sectors of shared memory counts twice.
"""

from __future__ import annotations

import numpy as np
from numba import njit

REQUESTS, SECTORS, WAVEFRONTS, IDEAL, BYTES, THREADS = range(6)
FIELDS = 6


@njit(cache=True, inline="always")
def sectors_of_line(part):
    """Sectors of one warp's addresses where all lie in one line of 128 bytes, else 0. A slice makes the loop fast."""
    spread, used, start = 0, 0, part[0]
    for i in range(part.size):
        spread |= part[i] ^ start
        used |= 1 << (part[i] >> 5 & 3)
    return (used & 1) + (used >> 1 & 1) + (used >> 2 & 1) + (used >> 3) if spread >> 7 == 0 else 0


@njit(cache=True)
def count_sectors(addr, starts, nbytes, row):
    """Add the requests, sectors, bytes and threads of one instruction to ``row`` int64[6]; warps are
    ``starts[i]:starts[i + 1]``.
    """
    seen = np.empty(64, np.int64)
    sectors = 0
    for w in range(len(starts) - 1):
        in_line = sectors_of_line(addr[starts[w] : starts[w + 1]])
        if in_line:
            sectors += in_line
            continue
        n_seen = 0
        last = before = -1
        for at in addr[starts[w] : starts[w + 1]]:
            if at == before:
                continue
            before = at
            for s in range(at >> 5, ((at + nbytes - 1) >> 5) + 1):
                if s == last:
                    continue
                new = True
                if s < last or n_seen == 0:
                    for j in range(n_seen):
                        if seen[j] == s:
                            new = False
                            break
                if new:
                    seen[n_seen] = s
                    n_seen += 1
                if s > last:
                    last = s
        sectors += n_seen
    row[REQUESTS] += len(starts) - 1
    row[SECTORS] += sectors
    row[BYTES] += len(addr) * nbytes
    row[THREADS] += len(addr)


@njit(cache=True)
def served_together(addr, tid, first, last, partner):
    """Whether each of the lanes ``first:last`` of one warp wants the address of lane ^ ``partner``, where active."""
    for i in range(first, last):
        other = tid[i] ^ partner
        for j in range(max(first, i - partner), min(last, i + partner + 1)):
            if tid[j] == other and addr[j] != addr[i]:
                return False
    return True


@njit(cache=True)
def count_wavefronts(addr, tid, starts, nbytes, row, load):
    """Add the requests, wavefronts, ideal wavefronts, bytes and threads of one shared-memory instruction to ``row``
    int64[6]; ``load`` is false for a store.

    A phase's wavefronts are the largest number of distinct words in one bank. ``word_of[bank]`` lists a phase's
    words of a bank, ``depth`` their number, valid where ``seen_in`` is the running phase.
    """
    word_of = np.empty((32, 128), np.int64)
    depth = np.empty(32, np.int64)
    seen_in = np.full(32, -1, np.int64)
    phase_shift = 5 if nbytes <= 4 else (4 if nbytes == 8 else 3)
    phases, wavefronts = 0, 0
    for w in range(len(starts) - 1):
        if nbytes <= 4 and sectors_of_line(addr[starts[w] : starts[w + 1]]):
            wavefronts, phases = wavefronts + 1, phases + 1  # a line holds one word per bank
            continue
        worst, running = 0, np.int64(-1)
        unit, shift = np.int64(-1), phase_shift
        for i in range(starts[w], starts[w + 1]):
            if load and nbytes > 4 and tid[i] >> (phase_shift + 1) != unit:
                unit, last = tid[i] >> (phase_shift + 1), i
                while last < starts[w + 1] and tid[last] >> (phase_shift + 1) == unit:
                    last += 1
                same = served_together(addr, tid, i, last, 1) or served_together(addr, tid, i, last, 2)
                shift, running = (phase_shift + 1 if same else phase_shift), np.int64(-1)
            if tid[i] >> shift != running:
                running = tid[i] >> shift
                wavefronts += worst
                phases, worst = phases + 1, 0
            for word in range(addr[i] >> 2, ((addr[i] + nbytes - 1) >> 2) + 1):
                bank = word & 31
                if seen_in[bank] != phases:
                    seen_in[bank], depth[bank], word_of[bank, 0] = phases, 1, word
                    worst = max(worst, 1)
                    continue
                new = True
                for j in range(depth[bank]):
                    if word_of[bank, j] == word:
                        new = False
                        break
                if new:
                    word_of[bank, depth[bank]] = word
                    depth[bank] += 1
                    worst = max(worst, depth[bank])
        wavefronts += worst
    row[REQUESTS] += len(starts) - 1
    row[WAVEFRONTS] += wavefronts
    row[IDEAL] += phases
    row[BYTES] += len(addr) * nbytes
    row[THREADS] += len(addr)


@njit(cache=True)
def count_copy_sectors(source, target, starts, row):
    """Add the sectors of a cp.async.cg from ``source`` to ``target``, 16 bytes per lane, to ``row`` int64[6]."""
    for w in range(len(starts) - 1):
        for i in range(starts[w], starts[w + 1]):
            new = 1
            for j in range(starts[w], i):
                if source[j] >> 5 == source[i] >> 5 and target[j] >> 5 == target[i] >> 5:
                    new = 0
                    break
            row[SECTORS] += new


@njit(cache=True)
def count_copy_wavefronts(source, target, tid, starts, nbytes, row):
    """Add the wavefronts and ideal wavefronts of a cp.async.ca to ``row`` int64[6]; ``source`` is -1 where a lane reads
    nothing. Where source and destination both conflict, the larger conflict counts; that has not been measured.
    """
    used = np.zeros((2, 32), np.int64)  # lanes' words per bank of the running part: source, destination
    lines = np.empty(32, np.int64)
    shift = 5 if nbytes <= 4 else (4 if nbytes == 8 else 3)
    for w in range(len(starts) - 1):
        first = starts[w]
        while first < starts[w + 1]:
            last, n_lines = first, 0
            part_of = np.zeros(32, np.int64)
            while last < starts[w + 1] and tid[last] >> shift == tid[first] >> shift:
                at = 0
                if source[last] >= 0:
                    while at < n_lines and lines[at] != source[last] >> 7:
                        at += 1
                    lines[at] = source[last] >> 7
                    n_lines = max(n_lines, at + 1)
                part_of[last - first] = at >> 2
                last += 1
            for part in range(max(1, (n_lines + 3) >> 2)):
                used[:] = 0
                for i in range(first, last):
                    if part_of[i - first] == part:
                        for word in range(nbytes >> 2):
                            used[1, ((target[i] >> 2) + word) & 31] += 1
                            if source[i] >= 0:
                                used[0, ((source[i] >> 2) + word) & 31] += 1
                row[WAVEFRONTS] += used.max()
                row[IDEAL] += 1
            first = last
