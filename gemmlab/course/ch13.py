"""Exercises of chapter 13: precision."""

import math
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from gemmlab.errors import CheckError
from gemmlab.grading.exercise import Choice, Function
from gemmlab.grading.kernel_exercise import Kernel
from gemmlab.grading.targets import NoDouble, StoredOnce, Target
from gemmlab.launch import launch
from kernels.spec import Spec


def one_warp(name: str, **fields) -> Spec:
    """Return the Spec of an answer in which one warp computes 16 x 8 elements of C."""
    return Spec(
        name=name,
        chapter="13",
        title="",
        language="cuda",
        file="",
        entry="",
        change="",
        block=(32, 1, 1),
        grid=("cdiv(N,8)", "cdiv(M,16)", "1"),
        tile=MappingProxyType({"BM": 16, "BN": 8}),
        args=("A", "B", "C", "M", "N", "K"),
        needs=(8, 0),
        **fields,
    )


@dataclass(frozen=True)
class Multiplies(Target):
    """The products are made by mma of the types `types`, `times` for each step of k; `hint`: where more are made."""

    types: str
    step: int
    times: int
    hint: str

    @property
    def reached(self) -> str:
        return f"{self.times} mma per {self.step} k"

    def require(self, counted):
        M, N, K = counted.shape
        sites = [site for site in counted.report.counters.sites if site.opcode.startswith("mma.sync")]
        mine = sum(site.executions for site in sites if self.types in site.opcode)
        if not mine:
            found = f", but {sites[0].opcode}" if sites else ""
            raise CheckError(f"no mma of the types {self.types} is executed{found}")
        steps = -(-M // 16) * -(-N // 8) * -(-K // self.step)
        if mine > self.times * steps:
            raise CheckError(f"{mine / steps:.3g} mma per {self.step} k, the target is {self.times}: {self.hint}")


@dataclass(frozen=True)
class Drift(Target):
    """For positive data the mean relative error stays below `most` after `K` products."""

    most: float
    K: int

    @property
    def reached(self) -> str:
        return f"no drift after {self.K} positive products"

    def require(self, counted):
        rng = np.random.default_rng(13)
        A, B = rng.random((16, self.K), dtype=np.float32), rng.random((self.K, 8), dtype=np.float32)
        C = np.full((16, 8), np.nan, np.float32)
        sizes = [np.int32(n) for n in (16, 8, self.K)]
        launch(counted.compiled, A, B, C, *sizes, grid=1, block=32, backend="emulator", check=False)
        mean = float(np.mean(C / (A.astype(float) @ B.astype(float)) - 1))
        if not abs(mean) <= self.most:
            raise CheckError(
                f"after {self.K} positive products C is off by {mean:+.1e} of its size on average, the target is "
                f"{self.most:g}: a tensor core cuts its sums; start each step's sum at zero and add it in FP32"
            )


def rounded(x, bits):
    """Round to `bits` explicit mantissa bits, ties away from zero."""
    mantissa, exponent = math.frexp(abs(x))
    scale = 2.0 ** (bits + 1)
    return math.copysign(math.ldexp(math.floor(mantissa * scale + 0.5) / scale, exponent), x)


def _cut(x, bits):
    mantissa, exponent = math.frexp(abs(x))
    scale = 2.0 ** (bits + 1)
    return math.copysign(math.ldexp(math.floor(mantissa * scale) / scale, exponent), x)


def _up(x, bits):
    mantissa, exponent = math.frexp(abs(x))
    scale = 2.0 ** (bits + 1)
    return math.copysign(math.ldexp(math.ceil(mantissa * scale) / scale, exponent), x)


def _even(x, bits):
    mantissa, exponent = math.frexp(x)
    scale = 2.0 ** (bits + 1)
    return math.ldexp(round(mantissa * scale) / scale, exponent)


def draw_numbers(rng):
    """Ten hidden cases (x, bits), half of them ties."""
    cases = []
    for number in range(10):
        bits = int(rng.choice((7, 10)))
        x = float(np.float32(rng.standard_normal() * 2.0 ** rng.integers(-20, 20)))
        if number % 2:
            x = rounded(x, bits)
            x = math.copysign(abs(x) + 2.0 ** (math.frexp(x)[1] - 2 - bits), x)
        cases.append((x, bits))
    return cases


X = 3.3
PATHS = {
    "FP32": X * X,
    "one factor in TF32": rounded(X, 10) * X,
    "both in TF32": rounded(X, 10) ** 2,
    "both cut to TF32": _cut(X, 10) ** 2,
    "both in BF16": rounded(X, 7) ** 2,
}


def name_of(path):
    """Return what the choice calls a path: its number with five decimals."""
    return f"{PATHS[path]:.5f}"


EXERCISES = (
    Function(
        id="13.1",
        title="Round to TF32",
        parameters=("x", "bits"),
        reference=rounded,
        public=(
            (1024.5, 10),
            (-1024.5, 10),
            (1025.5, 10),
            (3.140000104904175, 10),
            (3.140000104904175, 7),
            (1.0, 10),
            (-0.10000000149011612, 7),
            (1.99999, 10),
            (3.299999952316284, 7),
            (6.0e-20, 7),
        ),
        draw=draw_numbers,
        rel=1e-12,
        because="to nearest, ties away from zero",
        hints=(
            (_cut, "that cuts; a number above the middle goes up"),
            (_up, "that goes up always; a number below the middle goes down"),
            (_even, "ties go to even there: cvt.rna and half an ulp take them away from zero"),
            (lambda x, b: rounded(x, b - 1), "one bit short: the leading one is not stored"),
            (lambda x, b: rounded(x, b + 1), "one bit too many: the leading one is not among the mantissa bits"),
            (lambda x, b: math.floor(x * 2.0**b + 0.5) / 2.0**b, "a spacing of 2^-bits holds between 1 and 2 only"),
        ),
    ),
    Choice(
        id="13.2",
        title="Which path",
        given=MappingProxyType({name_of(path): PATHS[path] for path in PATHS}),
        expected=frozenset({name_of("one factor in TF32"), name_of("both in TF32"), name_of("both cut to TF32")}),
        why=MappingProxyType(
            {
                name_of("FP32"): "this is 3.3 x 3.3 as FP32 has it",
                name_of(
                    "both in BF16"
                ): "TF32 has closer neighbours of 3.3 than 3.296875, which has seven mantissa bits",
            }
        ),
        because="one factor rounded, both rounded, both cut",
    ),
    Kernel(
        id="13.3",
        title="Split and multiply",
        spec=one_warp("13.3", math="3xtf32"),
        targets=(
            NoDouble(),
            StoredOnce(),
            Multiplies("tf32", 8, 3, "which product is too small to count?"),
            Drift(5e-7, 2048),
        ),
        probe_shape=(32, 16, 40),
    ),
    Kernel(
        id="13.4",
        title="Repair",
        spec=one_warp("13.4", a_dtype="float16", b_dtype="float16"),
        targets=(NoDouble(), StoredOnce(), Multiplies("f32.f16.f16.f32", 16, 1, "m16n8k16 takes them at once")),
        probe_shape=(32, 16, 40),
    ),
)
