"""Exercises of chapter 14: TMA."""

from dataclasses import replace
from types import MappingProxyType

import kernels
from gemmlab.grading.exercise import Choice
from gemmlab.grading.kernel_exercise import Kernel
from gemmlab.grading.targets import NoDouble, StoredOnce
from gemmlab.grading.targets_async import Keeps
from gemmlab.grading.targets_shared import NoConflicts

RING = replace(
    kernels.spec("k14_tma"),
    block=(64, 1, 1),
    grid=("cdiv(N,BN)", "cdiv(M,BM)", "1"),
    tile=MappingProxyType({"BM": 64, "BN": 128, "BK": 64}),
    shared_bytes="2*2*BK*(BM+BN)+64",
    defines=MappingProxyType({}),
)
BOXED = replace(RING, args=(*RING.args[:2], "map(C,64,64,128)", *RING.args[3:]))
PROBE = (64, 128, 320)  # five steps: the ring of two stages goes round twice

UNWAITED = (
    "the block ends while the copy may still read its shared memory: commit the copy's group, and wait for it "
    "(cp_async_bulk_commit_group, cp_async_bulk_wait_group_read<0>)"
)
STORE_WAITED = tuple(Keeps(rf"cp\.async\.bulk\.{what}_group", UNWAITED) for what in ("commit", "wait"))

MAPS = {
    "narrow": "a row has 200 bytes, no multiple of 16",
    "square": "128 × 64 elements: 256 rows are allowed, and the inner box has 128 bytes",
    "wide": "the inner box has 256 bytes, and the swizzle allows 128",
    "half": "the inner box has 64 bytes: fewer than the swizzle's 128 are allowed",
    "tall": "300 rows, and a box has at most 256 per dimension",
    "bytes": "the inner box has 24 bytes, no multiple of 16",
    "larger": "a box may exceed the array: what lies outside is filled with zeros, and a row has 80 bytes",
    "turned": "neighbours in a row do not lie side by side",
    "plain": "without a swizzle the inner box may have 256 bytes",
}

EXERCISES = (
    Choice(
        id="14.1",
        title="Refused",
        given=MAPS,
        expected=frozenset({"narrow", "wide", "tall", "bytes", "turned"}),
        why=MAPS,
        because="five of the nine are refused",
    ),
    Kernel(
        id="14.2",
        title="Ask for a stage",
        spec=replace(RING, name="14.2"),
        targets=(NoDouble(), StoredOnce(), NoConflicts()),
        refused=("missing-proxy-fence",),
        probe_shape=PROBE,
    ),
    Kernel(
        id="14.3",
        title="Repair the ring",
        spec=replace(RING, name="14.3"),
        targets=(NoDouble(), StoredOnce(), NoConflicts()),
        probe_shape=PROBE,
    ),
    Kernel(
        id="14.4",
        title="Repair the way back",
        spec=replace(BOXED, name="14.4"),
        targets=(NoDouble(), StoredOnce(), NoConflicts(), *STORE_WAITED),
        probe_shape=PROBE,
        refused=("copy-unfinished",),
    ),
)
