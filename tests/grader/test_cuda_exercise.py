"""A kernel exercise in CUDA C++ with tensor maps and clusters: what is recorded is judged from its PTX alone."""

from types import MappingProxyType

import pytest

import gemmlab as gl
from gemmlab.grading.kernel_exercise import Kernel
from gemmlab.grading.targets import NoDouble, StoredOnce
from gemmlab.grading.targets_async import Keeps
from kernels import Spec
from tests.gemmlab import call_kernels as texts

EXERCISE = Kernel(
    id="99.1",
    title="Tiles by TMA",
    spec=Spec(
        "99.1", "99", "", "cuda", "none.cu", "tma", "", (32, 1, 1), ("2*cdiv(N,2*T)", "cdiv(M,T)", "1"),
        tile=MappingProxyType({"T": 16}), args=("map(A,T,T,0)", "map(B,T,T,0)", "map(C,T,T,0)", "K"), needs=(9, 0),
        cluster=(2, 1, 1),
    ),
    targets=(NoDouble(), StoredOnce(), Keeps(r"cp\.async\.bulk\.tensor", "the tiles no longer come by TMA")),
)  # fmt: skip
REPAIRS = {  # what breaks the kernel: (old, new, what the learner hears)
    "parity": ("k / 16 % 2)", "0)", "mbarrier-over-arrival"),
    "bytes": ("2 * 16 * 16 * 4)", "16 * 16 * 4)", "mbarrier|race|transaction|wrong"),
    "store": ("tma_store_2d(&c, x, y, sc);", "", "is not finished: the kernel writes nothing"),
    "axes": ("tma_load_2d(sa, &a, k, y, &bar)", "tma_load_2d(sa, &a, y, k, &bar)", "wrong|A"),
}


def answer(text: str):
    return gl.cuda_source(text, "tma")


def test_the_model_passes_and_says_what_was_verified(capsys):
    EXERCISE.check(answer(texts.TMA))
    assert capsys.readouterr().out == "99.1 passed: right at every shape, no finding\n"


@pytest.mark.parametrize("name", REPAIRS)
def test_a_broken_kernel_hears_why(name):
    old, new, words = REPAIRS[name]
    assert old in texts.TMA
    with pytest.raises(gl.CheckError, match=words):
        EXERCISE.check(answer(texts.TMA.replace(old, new)))


def test_a_record_is_plain_data():
    record = EXERCISE.record(answer(texts.TMA), [])
    assert set(record) == {"ptx", "entry", "block"} and ".target sm_90a" in record["ptx"]
    assert EXERCISE.judge(record, EXERCISE.inputs()).startswith("right at every shape")
