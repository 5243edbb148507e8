"""Launches that a GPU would refuse, and what the report says."""

import numpy as np
import pytest
from compiling import nvrtc_ptx

import ptxemu

PLAIN = """extern "C" __global__ void k(float* x) { x[threadIdx.x] = 1; }"""
BOUNDED = PLAIN.replace("void k", "void __launch_bounds__(128) k")
SHARED = """extern "C" __global__ void k(float* x) {
  extern __shared__ float d[]; __shared__ volatile char c; c = 1; d[threadIdx.x] = c; __syncthreads();
  x[threadIdx.x] = d[threadIdx.x]; }"""


def entry(source, arch="90"):
    return ptxemu.load(nvrtc_ptx(source, arch=arch)).entry()


def refuse(kernel, grid, block, words, **options):
    with pytest.raises(ptxemu.LaunchError) as error:
        ptxemu.launch(kernel, grid, block, [np.zeros(2048, np.float32)], **options)
    assert words in str(error.value) and "\n" not in str(error.value)


def test_blocks_that_do_not_fit():
    refuse(entry(PLAIN), 1, 1025, "at most 1024")
    refuse(entry(PLAIN), 1, (1, 1, 65), "z dimension")
    refuse(entry(PLAIN), (1, 70000), 32, "at most 65535")
    refuse(entry(PLAIN), 0, 32, "positive integers")
    refuse(entry(BOUNDED), 1, 256, "at most 128")


@pytest.mark.parametrize("profile,limit", [(ptxemu.H200, 232448), (ptxemu.RTX5090, 101376), (ptxemu.T4, 65536)])
def test_shared_memory_limits(profile, limit):
    kernel = entry(SHARED, "75")
    static = 4  # one char, rounded up to where the dynamic array starts
    ptxemu.launch(kernel, 1, 32, [np.zeros(32, np.float32)], shared=limit - static, profile=profile)
    refuse(kernel, 1, 32, "bytes of shared memory", shared=limit + 1, profile=profile)
    with pytest.raises(ptxemu.LaunchError, match=str(limit)):
        ptxemu.launch(kernel, 1, 32, [np.zeros(32, np.float32)], shared=limit, profile=profile)


def test_targets():
    refuse(entry(PLAIN, "90a"), 1, 32, "does not run on B200", profile=ptxemu.B200)
    refuse(entry(PLAIN, "100a"), 1, 32, "does not run on H200")
    ptxemu.launch(entry(PLAIN, "75"), 1, 32, [np.zeros(32, np.float32)], profile=ptxemu.B200)
    assert ptxemu.profile_for("sm_120a") is ptxemu.RTX5090


def test_other_options():
    refuse(entry(PLAIN), 1, 32, "schedule", schedule="sometimes")
    refuse(entry(PLAIN), 1, 32, "no multiple of the cluster", cluster=2)
    refuse(entry(PLAIN), 1, 32, "not negative", shared=-1)


def test_a_kernel_compiled_for_clusters_takes_no_others():
    refuse(entry(PLAIN.replace("void k", "void __cluster_dims__(2) k")), 4, 32, "__cluster_dims__", cluster=4)


def test_entries_and_parameters():
    module = ptxemu.load(nvrtc_ptx(PLAIN + BOUNDED.replace(" k(", " l(")))
    assert module.entries == ["k", "l"] and module.target == "sm_90a"
    with pytest.raises(ptxemu.PtxError, match="2 entries"):
        module.entry()
    with pytest.raises(ptxemu.PtxError, match="no entry 'm'"):
        module.entry("m")
    kernel = module.entry("l")
    assert kernel.maxntid == (128, 1, 1) and kernel.params[0].dtype == "u64" and kernel.params[0].size == 8
    assert entry(SHARED).static_shared == 1


def test_a_numpy_launch_shape_is_accepted_and_progress_is_told():
    seen = []
    report = ptxemu.launch(
        entry(PLAIN), np.int64(3), (np.int32(8), 2), [np.zeros(32, np.float32)], progress=seen.append
    )
    assert report.completed and sum(seen) == 3 and report.steps > 0 and report.cpu_s >= 0


def test_reports_are_the_same_with_checks_on_and_off():
    kernel = entry(SHARED)
    counters = [
        ptxemu.launch(kernel, 2, 64, [np.zeros(64, np.float32)], shared=256, check=check, count=True).counters.to_dict()
        for check in (False, True)
    ]
    assert counters[0] == counters[1]
