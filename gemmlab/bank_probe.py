"""What a warp's request to shared memory costs, for any 32 addresses: a one-instruction kernel on the emulator."""

from functools import cache

import numpy as np

import ptxemu

LOADS = {2: "u16 %h1", 4: "u32 %r1", 8: "u64 %d1", 16: "v4.u32 {%r1, %r2, %r3, %r4}"}
PROBE = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry probe(.param .u64 addresses)
{{
    .reg .b16 %h<2>; .reg .b32 %r<8>; .reg .b64 %d<5>;
    .shared .align 16 .b8 memory[49152];
    ld.param.u64 %d2, [addresses];
    cvta.to.global.u64 %d2, %d2;
    mov.u32 %r5, %tid.x;
    mul.wide.u32 %d3, %r5, 4;
    add.s64 %d4, %d2, %d3;
    ld.global.u32 %r6, [%d4];
    mov.u32 %r7, memory;
    add.s32 %r6, %r6, %r7;
    ld.shared.{load}, [%r6];
    ret;
}}
"""


@cache
def _probe(width: int):
    return ptxemu.load(PROBE.format(load=LOADS[width])).entry("probe")


def wavefronts(addresses, width: int) -> tuple[int, int]:
    """Count, on the emulator, (wavefronts, the fewest possible) when lane i loads `width` bytes at addresses[i].

    addresses: 32 byte offsets below 48 KiB, multiples of width; width: 2, 4, 8 or 16.
    """
    lanes = np.asarray(addresses, np.uint32)
    report = ptxemu.launch(_probe(width), 1, 32, [lanes], check=False)
    site = report.counters.total(space="shared", op="ld")
    return site.wavefronts, site.wavefronts_ideal
