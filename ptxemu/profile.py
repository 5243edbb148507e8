"""Device profiles: what decides residency and which launches are refused.

Sources: CUDA C++ Programming Guide, "Compute Capabilities", tables of technical specifications per compute
capability; SM counts from the vendor's architecture documents (Turing, Ampere, Hopper, Blackwell white papers and
datasheets).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .errors import LaunchError


@dataclass(frozen=True)
class DeviceProfile:
    """Limits of one GPU: compute capability ``cc`` (major, minor), counts per SM, bytes of shared memory per SM and
    (opt-in) per block.
    """

    name: str
    cc: tuple
    sms: int
    max_threads_per_sm: int
    max_blocks_per_sm: int
    registers_per_sm: int
    shared_per_sm: int
    shared_per_block_optin: int
    max_cluster: int

    def resident_ctas(self, threads, shared):
        """CTAs that the whole GPU holds at once. From cc 8.0 on, 1 KB of shared memory per block is the system's."""
        reserved = 1024 if self.cc >= (8, 0) else 0
        warps = -(-threads // 32) * 32
        by_shared = self.shared_per_sm // (shared + reserved) if shared + reserved else self.max_blocks_per_sm
        return self.sms * max(min(self.max_threads_per_sm // warps, self.max_blocks_per_sm, by_shared), 1)


T4 = DeviceProfile("T4", (7, 5), 40, 1024, 16, 65536, 64 << 10, 64 << 10, 1)
A100 = DeviceProfile("A100", (8, 0), 108, 2048, 32, 65536, 164 << 10, 163 << 10, 1)
H200 = DeviceProfile("H200", (9, 0), 132, 2048, 32, 65536, 228 << 10, 227 << 10, 16)
B200 = DeviceProfile("B200", (10, 0), 148, 2048, 32, 65536, 228 << 10, 227 << 10, 16)
RTX5090 = DeviceProfile("RTX 5090", (12, 0), 170, 1536, 24, 65536, 100 << 10, 99 << 10, 8)

_BY_MAJOR = {7: T4, 8: A100, 9: H200, 10: B200, 12: RTX5090}


def target_cc(target):
    """("sm_90a") -> ((9, 0), "a")."""
    match = re.fullmatch(r"sm_(\d+)(\d)([af]?)", target)
    if match is None:
        raise LaunchError(f"target {target!r} is not of the form sm_90 or sm_90a: change the .target of the PTX")
    return (int(match[1]), int(match[2])), match[3]


def profile_for(target):
    """A profile that can run code of a target such as "sm_90a"; the one of the same major version."""
    (major, _), _ = target_cc(target)
    return _BY_MAJOR.get(major, H200)


def runs_on(target, profile):
    """Whether PTX of ``target`` can run on the device: plain targets on any later one, "a" only on the same, "f" in the
    same family.
    """
    cc, suffix = target_cc(target)
    if suffix == "a":
        return cc == profile.cc
    if suffix == "f":
        return cc[0] == profile.cc[0] and cc <= profile.cc
    return cc <= profile.cc
