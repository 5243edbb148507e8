"""The table of instructions by architecture in book/hardware.md: each cell is what ptxas says."""

import re
import subprocess

import pytest

from gemmlab.compat import find_tool
from tools.common import ROOT

BODIES = {
    "`mma.sync` m16n8k8, FP16": "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
    "{f0,f1,f2,f3}, {r0,r1}, {r2}, {f0,f1,f2,f3};",
    "`ldmatrix`": "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {r0,r1,r2,r3}, [s];",
    "`mma.sync` m16n8k16, BF16": "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
    "{f0,f1,f2,f3}, {r0,r1,r2,r3}, {r4,r5}, {f0,f1,f2,f3};",
    "`cp.async`": "cp.async.cg.shared.global [s], [g], 16;",
    "`mbarrier`": "mbarrier.init.shared.b64 [s], 1;",
    "`mma.sync` m16n8k32, FP8": "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
    "{f0,f1,f2,f3}, {r0,r1,r2,r3}, {r4,r5}, {f0,f1,f2,f3};",
    "`expect_tx`, `try_wait`": "mbarrier.arrive.expect_tx.shared.b64 _, [s], 64; "
    "mbarrier.try_wait.parity.shared.b64 ok, [s], 0;",
    "TMA, `cp.async.bulk.tensor`": "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
    "[s], [g, {r0, r1}], [s];",
    "`stmatrix`": "stmatrix.sync.aligned.m8n8.x4.shared.b16 [s], {r0,r1,r2,r3};",
    "clusters, `barrier.cluster`, `mapa`": "barrier.cluster.arrive; barrier.cluster.wait; "
    "mapa.shared::cluster.u32 s, s, 0;",
    "`wgmma`": "wgmma.fence.sync.aligned;",
    "`setmaxnreg`": "setmaxnreg.dec.sync.aligned.u32 24;",
    "`tcgen05`, tensor memory": "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32;",
}
KERNEL = """.version 8.7
.target {target}
.address_size 64
.visible .entry kernel(.param .u64 p) .maxntid 128 .minnctapersm 1
{{
.reg .b64 g; .reg .b32 s, r<8>; .reg .f32 f<4>; .reg .pred ok;
ld.param.u64 g, [p];
mov.b32 s, 0;
{body}
ret;
}}
"""
TABLE = (ROOT / "book" / "hardware.md").read_text().partition("## Which architecture has what")[2]
HEAD, _, *ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*\|$", TABLE, re.M)
][: len(BODIES) + 2]


def test_the_table_is_complete():
    assert [row[0] for row in ROWS] == list(BODIES)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_every_cell(row, tmp_path):
    ptxas = find_tool("ptxas")
    if ptxas is None:
        pytest.skip("no ptxas here: it comes with the nvidia-cuda-nvcc wheel ('make env')")
    for head, cell in zip(HEAD[1:], row[1:], strict=True):
        target = re.search(r"sm_\w+", head)[0]
        source = tmp_path / "kernel.ptx"
        source.write_text(KERNEL.format(target=target, body=BODIES[row[0]]))
        command = [ptxas, f"-arch={target}", source, "-o", tmp_path / "kernel.cubin"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert (done.returncode == 0) == (cell == "yes"), f"{target}: {done.stdout + done.stderr}"
