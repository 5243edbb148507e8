"""Shadow memory for the race check: who wrote and read each granule last, and the loop that compares an access with
it.

A shadow is int32[granules, entries, 3], stored flat; an entry is (stamp, id, cta) with ``stamp`` 0 for "none" and
``id = site << 12 | volatile << 11 | strong << 10 | tid``. Entry 0 is the last plain write; then come ``readers``
different readers of the latest epoch (of different CTAs and warps if there are any); the last two are strong
writers (atomics, relaxed and volatile stores). With barriers of whole CTAs and whole warps only, two readers are
enough, of two warps if there are any, else the latest: whoever writes next is not both of them. Where a kernel orders
other parts of a CTA or uses flags, four are kept; among more than four warps chance decides, differently for every
granule.

An earlier access with stamp s by thread u is ordered before thread t of the same CTA if s < base (the last full
barrier), or u == t, or both are in one warp and s < warp_base (the last full ``bar.warp.sync``), or s < dense[t, u]
(anything more special). See clocks.py.
"""

from __future__ import annotations

import numpy as np
from numba import njit

LOAD, STORE, UPDATE = 0, 1, 2
TID = 0x3FF
STRONG = 1 << 10
VOLATILE = 1 << 11
SITE_SHIFT = 12

RACE, UNINITIALISED = 0, 1
KIND, OTHER_ID, OTHER_STAMP, OTHER_CTA, LANE, GRANULE, OTHER_ENTRY = range(7)
CANDIDATE_FIELDS = 7


ENTRY = 3
RECENT = 256  # granules, or rows of addresses, remembered within one instruction
ROW = 32  # lanes of a warp, looked at together
WRITTEN = 255  # in ``lines``: the line was written


def new_shadow(granules, readers):
    """An empty shadow, flat: int32[granules * (3 + readers) * 3]. Pages that are never touched cost nothing."""
    return np.zeros(granules * (3 + readers) * ENTRY, np.int32)


def with_more_readers(shadow, readers):
    """A shadow with two reader entries, copied into one with ``readers``."""
    old = shadow.reshape(-1, 5, ENTRY)
    new = np.zeros((len(old), 3 + readers, ENTRY), np.int32)
    new[:, :3], new[:, -2:] = old[:, :3], old[:, 3:]
    return new.ravel()


@njit(cache=True, inline="always")
def _ordered(stamp, other, t, slot, base, warp_base, dense_index, dense, first):
    """Whether thread ``other``'s access at ``stamp`` happens before what thread ``t`` of the same CTA does now;
    ``first``: where its columns of ``dense`` begin.
    """
    if other == t or stamp < base[slot]:
        return True
    if other >> 5 == t >> 5 and stamp < warp_base[slot, t >> 5]:
        return True
    d = dense_index[slot]
    return d >= 0 and stamp < dense[d, t, first + other]


@njit(cache=True)
def choose_readers(lines, in_shared, offset, line_shift, addr, slots, tids, chosen):
    """Enter in ``chosen`` which lanes of a load may tell something where two readers are enough; return their number.

    Left out are lines that two CTAs have read and nobody has written, the third and further neighbours of a warp at one
    address, and the third and further warps of a CTA at the same, evenly spaced addresses.
    """
    n = 0
    seen = np.full((RECENT, 2), -1, np.int64)  # address and slot of a row, its distance
    again = np.zeros(RECENT, np.bool_)
    for first in range(0, len(addr), ROW):
        row = addr[first : first + ROW]
        slot, distance = np.int64(slots[first]), np.int64(0)
        if len(row) == ROW and slots[first + ROW - 1] == slot and tids[first] >> 5 == tids[first + ROW - 1] >> 5:
            distance, odd = row[1] - row[0], np.int64(0)
            for k in range(1, row.size):
                odd |= row[k] - row[k - 1] - distance
            if odd == 0:
                low, high = (row[0] - offset) >> line_shift, (row[-1] - offset) >> line_shift
                if not in_shared and _all_quiet(lines, low, high):
                    continue
                key = row[0] << 12 | slot
                place = ((key ^ key >> 9) * 40503 >> 8) & (RECENT - 1)
                if seen[place, 0] == key and seen[place, 1] == distance:
                    if again[place]:
                        continue
                    again[place] = True
                else:
                    seen[place, 0], seen[place, 1], again[place] = key, distance, False
                if distance == 0:
                    chosen[n], chosen[n + 1] = first, first + 1
                    n += 2
                    continue
        for k in range(len(row)):
            i = first + k
            if not in_shared and lines[(row[k] - offset) >> line_shift] == 32:
                continue
            if k > 1 and row[k] == row[k - 1] == row[k - 2]:
                if slots[i] == slots[i - 2] and tids[i] >> 5 == tids[i - 2] >> 5:
                    continue
            chosen[n] = i
            n += 1
    return n


@njit(cache=True, inline="always")
def _all_quiet(lines, first, last):
    """Whether all of a few lines were read by two CTAs and written by none."""
    if last < first or last > first + 4:
        return False
    for line in range(first, last + 1):
        if lines[line] != 32:
            return False
    return True


@njit(cache=True)
def check_access(
    shadow, lines, readers, slot_stride, offset, shift, addr, nbytes, homes, slots, tids, slot_cta, clock, base,
    warp_base, dense_index, dense, n_threads, asynchronous, kind, flags, site, flagged, in_shared, warps_meet, out,
    chosen, start,
):  # fmt: skip
    """Compare one instruction's lanes with the shadow, then enter them.

    ``kind`` LOAD, STORE or UPDATE; ``flags`` STRONG and VOLATILE; ``asynchronous`` bool per site; ``lines`` uint8 per
    32 granules of global memory: how many were read by two CTAs while nothing wrote any. ``flagged``: fences are in
    use, so that order may come from flags; ``warps_meet``: there are barriers of warps; ``chosen``: which lanes.
    Granule of a byte: home * slot_stride + ((addr - offset) >> shift), where ``homes`` are the slots whose shared
    memory it is. Candidates (unordered pairs, reads of shared memory that nobody wrote) go to ``out`` int64[cap, 7].
    Returns (next position in ``chosen``, candidates): the caller drains ``out`` and calls again with that as ``start``
    until all are checked.
    """
    n_out = 0
    room = out.shape[0] - 8 * max(1, nbytes >> shift)
    strong = flags & STRONG
    tail = (site << SITE_SHIFT) | flags
    entries = 3 + readers
    width = entries * ENTRY
    strong_at = 3 * (1 + readers)
    slot, cta, floor = -1, np.int64(-1), np.int32(0)
    settled = np.full(RECENT, -1, np.int64)  # granules of which one more read by this CTA (or warp) tells nothing
    simple = kind == LOAD and not flagged
    wide = dense.shape[2] > n_threads
    quiet = simple and not in_shared and readers == 2
    for j in range(start, len(chosen)):
        if n_out >= room:
            return j, n_out
        i = chosen[j]
        byte = addr[i] - offset
        if slots[i] != slot:
            slot = slots[i]
            cta, floor = slot_cta[slot], base[slot]
        first = homes[i] * slot_stride
        g0 = first + (byte >> shift)
        g1 = first + ((byte + nbytes - 1) >> shift)
        t = tids[i]
        key = (g0 << 16 | slot) << 5 | (t >> 5 if warps_meet else 0)  # its granules: g0 tells, all lanes want as many
        place = (g0 + (key & 31)) * 40503 >> 8 & (RECENT - 1)
        if simple and settled[place] == key:
            continue
        enough = 0
        stamp = clock[slot, t]
        me = tail | t
        for g in range(g0, g1 + 1):
            c = g * width
            w = shadow[c]
            ordered = (
                simple
                and shadow[c + strong_at] == 0
                and ((w == 0 and not in_shared) or (w != 0 and w < floor and shadow[c + 2] == cta))
            )
            if ordered:
                if _readers_are_enough(shadow, c, readers, cta, t, floor, warps_meet, warp_base[slot]):
                    enough += 1
                    continue  # the commonest case: nothing to compare, nothing to enter
                if shadow[c + 3] == stamp and shadow[c + 5] == cta and shadow[c + 4] & TID == t:
                    continue
            written = shadow[c] | shadow[c + strong_at]
            for e in range(entries if ordered else 0, entries):
                if kind == LOAD and 1 <= e <= readers:
                    continue
                s = shadow[c + 3 * e]
                if s == 0:
                    continue
                other, other_cta = shadow[c + 3 * e + 1], shadow[c + 3 * e + 2]
                both_strong = strong and other & STRONG
                if other_cta == cta:
                    u = other & TID
                    # What a relaxed arrival tells is enough for who writes over reads or asynchronous writes.
                    told = wide and kind != LOAD and (1 <= e <= readers or asynchronous[other >> SITE_SHIFT])
                    first_column = n_threads if told else 0
                    if (
                        s < floor
                        or u == t
                        or _ordered(s, u, t, slot, base, warp_base, dense_index, dense, first_column)
                    ):
                        continue
                    if both_strong and not (in_shared and flags & VOLATILE and u >> 5 == t >> 5):
                        continue
                elif both_strong:
                    continue
                out[n_out, KIND], out[n_out, OTHER_ENTRY] = RACE, e
                out[n_out, OTHER_ID], out[n_out, OTHER_STAMP], out[n_out, OTHER_CTA] = other, s, other_cta
                out[n_out, LANE], out[n_out, GRANULE] = i, g
                n_out += 1
            if in_shared and written == 0 and kind != STORE:
                out[n_out, KIND], out[n_out, OTHER_ENTRY] = UNINITIALISED, 0
                out[n_out, LANE], out[n_out, GRANULE] = i, g
                n_out += 1
            if kind == LOAD:
                warp_floors = warp_base[slot]
                shared_by_two = _enter_reader(shadow, c, readers, stamp, me, cta, t, floor, warps_meet, warp_floors, g)
                if quiet and written == 0 and shared_by_two and lines[g >> 5] < 32:
                    lines[g >> 5] += 1
                continue
            if not in_shared:
                lines[g >> 5] = WRITTEN
            if strong:
                _enter_strong(shadow, c + strong_at, stamp, me, cta, t)
            else:
                for e in range(1, entries):
                    shadow[c + 3 * e] = 0
                shadow[c], shadow[c + 1], shadow[c + 2] = stamp, me, cta
        if enough == g1 - g0 + 1:
            settled[place] = key
    return len(chosen), n_out


@njit(cache=True, inline="always")
def _readers_are_enough(shadow, c, readers, cta, t, floor, warps_meet, warp_floors):
    """Whether entering a read by any thread of the CTA (of ``t``'s warp, where warps meet) would tell nothing new: see
    ``_enter_reader``.
    """
    s1, s2 = shadow[c + 3], shadow[c + 6]
    if s1 == 0 or s2 == 0:
        return False
    if shadow[c + 5] != shadow[c + 8]:
        return True
    if readers != 2 or shadow[c + 5] != cta or s1 < floor or s2 < floor or (shadow[c + 4] | shadow[c + 7]) & STRONG:
        return False
    return not warps_meet or _outdated(shadow, c, t >> 5, warp_floors) < 0


@njit(cache=True, inline="always")
def _outdated(shadow, c, warp, warp_floors):
    """Which of two readers of one CTA a reader of ``warp`` replaces: the older one, where both are of another warp, or
    it is of this one and known to it. -1: neither.
    """
    first = (shadow[c + 4] & TID) >> 5
    if first != (shadow[c + 7] & TID) >> 5:
        return -1
    older = c + 3 if shadow[c + 3] < shadow[c + 6] else c + 6
    return older if warp != first or shadow[older] < warp_floors[first] else -1


@njit(cache=True)
def _enter_reader(shadow, c, readers, stamp, me, cta, t, floor, warps_meet, warp_floors, granule):
    """Enter a reader: keep different threads, of different CTAs and warps if possible, plain readers rather than
    strong ones. Returns whether this was the second CTA among the readers.
    """
    free, weak, covered, valid, foreign = -1, -1, False, 0, 0
    for r in range(1, readers + 1):
        e = c + 3 * r
        s = shadow[e]
        other = shadow[e + 1] & TID
        if s == 0:
            free = e if free < 0 else free
        elif shadow[e + 2] == cta:
            if other == t:
                shadow[e], shadow[e + 1] = stamp, me
                return False
            if s < floor:
                shadow[e] = 0
                free = e if free < 0 else free
                continue
            valid += 1
            covered = covered or (other >> 5 == t >> 5 and s == stamp)
        else:
            valid += 1
            foreign += 1
        if s and shadow[e + 1] & STRONG:
            weak = e
    if free < 0 and me & STRONG == 0:
        free = weak
    if free < 0 and warps_meet and readers == 2 and not foreign:
        free = _outdated(shadow, c, t >> 5, warp_floors)
        if free < 0 or me & STRONG:
            return False
    elif free < 0:
        if me & STRONG or (covered and not foreign):
            return False
        pick = (granule * 40503 + t * 9176 + stamp) >> 4
        if foreign == valid:  # none of this CTA yet
            free = c + 3 * readers
        elif readers > 2 and pick & 1:
            free = c + 3 * (1 + (pick >> 1) % readers)
        else:
            return False
    elif covered and valid > 1:
        return False
    shadow[free], shadow[free + 1], shadow[free + 2] = stamp, me, cta
    return foreign > 0 and foreign == valid


@njit(cache=True, inline="always")
def _enter_strong(shadow, one, stamp, me, cta, t):
    """Enter a strong writer: replace the same thread's entry, else the empty one, else one of the same CTA."""
    two = one + 3
    e = two
    if shadow[one] == 0 or (shadow[one + 2] == cta and shadow[one + 1] & TID == t):
        e = one
    elif shadow[two] == 0 or (shadow[two + 2] == cta and shadow[two + 1] & TID == t):
        e = two
    elif shadow[one + 2] == cta and shadow[two + 2] != cta:
        e = one
    shadow[e], shadow[e + 1], shadow[e + 2] = stamp, me, cta


@njit(cache=True)
def count_stores(stores, offset, shift, addr, nbytes):
    """Count stores per granule in ``stores`` uint16, saturating."""
    for i in range(len(addr)):
        for g in range((addr[i] - offset) >> shift, ((addr[i] - offset + nbytes - 1) >> shift) + 1):
            if stores[g] < 65535:
                stores[g] += 1
