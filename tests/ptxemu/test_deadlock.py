"""Kernels that would hang stop within seconds, with a post-mortem."""

import time

import numpy as np
from compiling import nvrtc_ptx

import ptxemu


def launch(source, grid, block, args, **options):
    start = time.process_time()
    report = ptxemu.launch(ptxemu.load(nvrtc_ptx(source)).entry(), grid, block, args, **options)
    assert time.process_time() - start < 10
    return report


def only(report, rule):
    (finding,) = [f for f in report.findings if f.rule == rule]
    return finding


def test_named_barrier_that_too_few_threads_reach():
    source = """extern "C" __global__ void k(int* x) {
      if (threadIdx.x < 32)
        asm volatile("bar.sync 2, 64;");
      x[threadIdx.x] = 1; }"""
    report = launch(source, 1, 64, [np.zeros(64, np.int32)])
    finding = only(report, "deadlock")
    assert not report.completed and finding.line == 3
    assert "barrier 2: 32 of 64 threads arrived" in finding.message


def test_warp_mask_that_never_converges():
    source = """extern "C" __global__ void k(int* x) {
      if (threadIdx.x < 8) { x[threadIdx.x] = __shfl_sync(0xffff, 1, 0); }
      else if (threadIdx.x < 16) { asm volatile("bar.sync 1, 64;"); } }"""
    finding = only(launch(source, 1, 32, [np.zeros(32, np.int32)]), "deadlock")
    assert "shfl" in finding.message and "barrier 1" in finding.message


def test_spinning_forever_is_a_livelock_with_the_loop():
    source = """extern "C" __global__ void k(volatile int* flag) {
      while (*flag == 0)
        ;
      flag[1] = 1; }"""
    report = launch(source, 2, 64, [np.zeros(2, np.int32)])
    finding = only(report, "livelock")
    assert not report.completed and finding.line in (2, 3) and "128 threads loop" in finding.message


def test_a_step_limit_stops_a_long_kernel():
    source = """extern "C" __global__ void k(int* x, int n) {
      int s = 0; for (int i = 0; i < n; i++) { __syncthreads(); s += x[i & 31]; } x[threadIdx.x] = s; }"""
    report = launch(source, 1, 32, [np.zeros(32, np.int32), 1 << 30], max_steps=500)
    assert not report.completed and only(report, "livelock")


def test_waiting_for_a_cta_that_is_not_resident():
    """More CTAs than the device holds: the first wait for the last, which never starts."""
    source = """extern "C" __global__ void k(volatile int* flag) {
      if (blockIdx.x == gridDim.x - 1) *flag = 1; else while (*flag == 0) ; }"""
    tiny = ptxemu.DeviceProfile("tiny", (9, 0), 1, 64, 2, 65536, 228 << 10, 227 << 10, 1)
    report = launch(source, 3, 32, [np.zeros(1, np.int32)], profile=tiny)
    assert only(report, "livelock")
    assert launch(source, 3, 32, [np.zeros(1, np.int32)]).completed


def test_a_barrier_in_one_branch_only():
    source = """extern "C" __global__ void k(int* x) {
      if (threadIdx.x < 40)
        __syncthreads();
      x[threadIdx.x] = 1; }"""
    finding = only(launch(source, 1, 64, [np.zeros(64, np.int32)]), "divergent-barrier")
    assert finding.severity == "error" and finding.line == 3


def test_two_barrier_instructions_in_one_warp_and_in_two():
    source = """extern "C" __global__ void k(int* x, int n) {
      if (threadIdx.x < n) { x[threadIdx.x] = 1;
        __syncthreads();
      } else { x[threadIdx.x] = 2 + x[threadIdx.x + 64];
        __syncthreads();
      } }"""
    for n, severity in ((40, "error"), (32, "warning")):
        finding = only(launch(source, 1, 64, [np.zeros(128, np.int32), n]), "divergent-barrier")
        assert finding.severity == severity and {finding.line, finding.other_line} == {3, 5}
        assert ("threads of warp 1 wait at two different" in finding.message) == (n == 40)


def test_early_return_is_a_warning():
    source = """extern "C" __global__ void k(int* x, int n) {
      if (threadIdx.x >= n) return;
      __syncthreads();
      x[threadIdx.x] = 1; }"""
    report = launch(source, 1, 64, [np.zeros(64, np.int32), 33])
    assert report.completed and only(report, "barrier-after-exit").severity == "warning" and not report.errors


def test_a_barrier_number_out_of_range():
    source = """extern "C" __global__ void k(int* x, int n) {
      asm volatile("bar.sync %0;" :: "r"(n)); x[threadIdx.x] = 1; }"""
    finding = only(launch(source, 1, 32, [np.zeros(32, np.int32), 16]), "deadlock")
    assert "barrier 16" in finding.message


def test_trap_stops_the_launch():
    source = """extern "C" __global__ void k(int* x) { if (threadIdx.x == 3) __trap(); x[threadIdx.x] = 1; }"""
    report = launch(source, 1, 32, [np.zeros(32, np.int32)])
    assert not report.completed and only(report, "trap").severity == "error"


def test_loops_that_wait_for_each_other_are_told_soon():
    """Two blocks wait for flags that nobody raises, while others stand at a barrier: no long search for progress."""
    source = """extern "C" __global__ void k(volatile int* flag) {
      if (threadIdx.x < 32)
        while (flag[1 - blockIdx.x] == 0)
          ;
      __syncthreads();
      flag[blockIdx.x] = 1; }"""
    start = time.process_time()
    finding = only(launch(source, 2, 64, [np.zeros(2, np.int32)]), "livelock")
    assert time.process_time() - start < 4 and "64 threads wait" in finding.message


def test_a_long_wait_is_no_livelock():
    """One thread works for long in a loop of its own while all others poll."""
    source = """extern "C" __global__ void k(volatile int* flag, int* out, int n) {
      if (threadIdx.x == 0 && blockIdx.x == 0) {
        int x = 1;
        for (int i = 0; i < n; ++i) { x = x * 3 + flag[1]; if (x & 8) x ^= i; }
        *out = x; __threadfence(); *flag = 1;
      } else while (*flag == 0) ; }"""
    assert launch(source, 2, 64, [np.zeros(2, np.int32), np.zeros(1, np.int32), 4000]).completed
