"""Wavefronts of ldmatrix, stmatrix and cp.async, sectors of cp.async: by hand, as ld and st, and as profiled."""

import json

import numpy as np
import pytest
from compiling import nvrtc_ptx
from pattern_cases import GLOBAL_BYTES
from pattern_tensor import PATTERNS, module_source
from test_patterns import RECORDS

import ptxemu

MATRICES = [p for p in PATTERNS if p.op != "cp" and p.ways]
COPIES = [p for p in PATTERNS if p.op == "cp"]
OTHERS = 4  # what the counter of all operations shows for these kernels without the copy: for each .cg, always


def count(pattern):
    """The emulator's counts of one pattern: Counters."""
    entry = ptxemu.load(nvrtc_ptx(module_source(), "patterns.cu")).entry(pattern.name)
    return ptxemu.launch(entry, 1, 32, [np.zeros(GLOBAL_BYTES, np.uint8)], check=False).counters


@pytest.mark.parametrize("pattern", MATRICES, ids=lambda p: p.name)
def test_matrix_wavefronts(pattern):
    site = count(pattern).total("shared")
    matrices = int(pattern.form[1])
    assert (site.requests, site.wavefronts_ideal, site.threads) == (1, matrices, 8 * matrices)
    assert site.bytes == 128 * matrices
    assert site.wavefronts == pattern.ways * matrices


SPREAD = [p for p in COPIES if p.form[:2] == "ca" and not p.name.endswith(("broadcast", "global_pitch128"))]


@pytest.mark.parametrize("pattern", SPREAD, ids=lambda p: p.name)
def test_a_copy_counts_like_a_load_and_a_store(pattern):
    """Equal addresses give equal sectors and equal excess where the words read lie in different banks."""
    n = int(pattern.form.split()[1])
    kind = {4: "unsigned", 8: "uint2", 16: "uint4"}[n]
    source = f"""extern "C" __global__ void plain(char* data) {{
  int t = threadIdx.x;
  __shared__ __align__(128) char tile[49152];
  volatile int keep = t;
  if ({pattern.active}) *({kind}*)(tile + ({pattern.address})) = *({kind}*)(data + ({pattern.source}));
  __syncthreads();
  data[t] = tile[keep];
}}"""
    entry = ptxemu.load(nvrtc_ptx(source, "plain.cu")).entry()
    plain = ptxemu.launch(entry, 1, 32, [np.zeros(GLOBAL_BYTES, np.uint8)], check=False).counters
    copy, mine = count(pattern), plain.total("shared", "st")
    load = next(s for s in plain.sites if s.space == "global" and s.op == "ld")
    assert (copy.total("shared").wavefronts, copy.total("shared").excess_wavefronts) == (
        mine.wavefronts,
        mine.excess_wavefronts,
    )
    total = copy.total("global", "ld")
    assert (total.requests, total.sectors, total.bytes) == (load.requests, load.sectors, load.bytes)
    assert copy.mix()["ldgsts"] == 1


@pytest.mark.skipif(not RECORDS, reason="no recorded patterns: run tools/record_patterns.py on a GPU")
@pytest.mark.parametrize("path", RECORDS, ids=lambda p: p.stem)
@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda p: p.name)
def test_equals_the_profiler(pattern, path):
    recorded = json.loads(path.read_text())["patterns"].get(pattern.name)
    if recorded is None:
        pytest.skip(f"{pattern.name} is not in {path.name}: run tools/record_patterns.py on a GPU")
    counters = count(pattern)
    shared = counters.total("shared")
    if pattern.op == "cp":
        read = counters.total("global", "ld")
        assert (read.requests, read.sectors) == (recorded["global_ld_requests"], recorded["global_ld_sectors"])
        measured = recorded["shared_wavefronts"] - OTHERS, recorded["shared_conflicts"]
    else:  # the counter of all operations has one wavefront more, whatever the addresses
        measured = tuple(recorded[f"shared_{pattern.op[:2]}_{name}"] for name in ("wavefronts", "conflicts"))
    assert (shared.wavefronts, shared.excess_wavefronts) == measured


def test_there_are_enough():
    assert len(PATTERNS) >= 60 and len({p.name for p in PATTERNS}) == len(PATTERNS)
