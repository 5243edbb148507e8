"""What the book's generated pages say: every rung in one chapter and unlike the one below, every wrapper listed."""

import re
import sys

import kernels
from tools.common import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
import ptx_wrappers  # noqa: E402  (Sphinx extensions: not a package)
from course_tables import load  # noqa: E402
from rung_changes import changes, summary  # noqa: E402
from where_am_i import rungs_of, spelled  # noqa: E402


def test_every_rung_belongs_to_one_chapter():
    found = [rung for chapter in load(ROOT / "book")[0] for rung in rungs_of(chapter["number"])]
    assert found == sorted(spec.rung for spec in kernels.LADDER if spec.rung)
    assert spelled(rungs_of("02")) == "no rung of its own"
    assert spelled(rungs_of("07")) == f"rungs 4 to 6 of {found[-1]}"


def test_every_rung_differs_from_the_one_below_in_text_or_macros():
    for spec in kernels.LADDER:
        if spec.rung and spec.prev:
            below = kernels.spec(spec.prev)
            said = summary(spec, changes(below, spec))
            assert said.startswith("+") or (spec.file == below.file and spec.defines != below.defines), spec.name


def test_every_wrapper_is_listed_with_its_instruction():
    found = {path.stem: ptx_wrappers.read(path) for path in ptx_wrappers.FOLDER.glob("*.cuh")}
    for stem, (about, wrappers) in found.items():
        text = (ptx_wrappers.FOLDER / f"{stem}.cuh").read_text()
        names = {wrapper.signature.split("(")[0].split("<")[0] for wrapper in wrappers}
        missing = set(re.findall(r"__forceinline__ [\w:]+ (\w+)\(", text)) - names - {"NAME", "cp_async_ca_"}
        assert about and wrappers and not missing, (stem, missing)
    listed = {w.signature: w.instructions for _, wrappers in found.values() for w in wrappers}
    assert listed["mbarrier_init(mbarrier_t* bar, unsigned count)"] == ("mbarrier.init.shared::cta.b64",)
    assert listed["setmaxnreg_dec<N>()"] == ("setmaxnreg.dec.sync.aligned.u32",)
    assert [name for name in listed if name.startswith("cp_async_ca_")] and not any("NAME" in name for name in listed)
    fragments = "float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]"
    assert listed[f"mma_m16n8k16_f32_bf16({fragments})"] == ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",)
