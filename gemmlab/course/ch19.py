"""Exercises of chapter 19: Split-K and Stream-K."""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from gemmlab.call import Call
from gemmlab.errors import CheckError
from gemmlab.grading.exercise import Function
from gemmlab.grading.kernel_exercise import Kernel
from gemmlab.grading.targets import NoDouble, ProductsOnce, Target
from gemmlab.launch import launch
from gemmlab.plots.quantisation import efficiency
from gemmlab.rules import launch_rule
from kernels import Spec

SMS = 132
SPLIT = 4
SUMMED = Spec(
    name="19.3",
    chapter="19",
    title="Add up the parts",
    language="cuda",
    file="",
    entry="summed",
    change="",
    block=(32, 8, 1),
    grid=(f"{SPLIT}", "cdiv(N,32)", "cdiv(M,32)"),
    args=("A", "B", "C", "W", "M", "N", "K"),
    workspace=f"cdiv(M,32)*cdiv(N,32)*{SPLIT}*4100",
    tile=MappingProxyType({}),
)


@dataclass(frozen=True)
class FlagsLeftZero(Target):
    """After a launch W holds parts, and the flags before them, `per_tile` words for each tile of 32 x 32, are zero."""

    per_tile: int
    reached = "flags left as zeros"

    def require(self, counted):
        M, N, K = counted.shape
        arrays = [np.ones(shape, np.float32) for shape in ((M, K), (K, N), (M, N))]
        call = Call(launch_rule(counted.compiled), *arrays, SMS)
        launch(counted.compiled, *call.args(), **call.launch, backend="emulator", check=False)
        words = call.buffers["W"].view(np.uint32)
        flags, parts = np.split(words, [self.per_tile * -(-M // 32) * -(-N // 32)])
        if not parts.any():
            raise CheckError("no part of a sum is left in W: let the CTAs of a tile share its K")
        if flags.any():
            raise CheckError(
                f"{np.count_nonzero(flags)} of {len(flags)} flags are not zero at the end: the next launch would not "
                "wait for its parts; who has seen a flag sets it back"
            )


def share(tiles, sms, parts, steps):
    """The share of the SMs' time that is work, for tiles cut into `parts` along K."""
    return efficiency(int(tiles), int(sms), split=int(parts), steps=int(steps))


def helpers(tile, tiles, steps, workers):
    """Workers besides the owner that have steps of a tile, in an even cut of the row of all steps."""
    edges = [int(tiles) * int(steps) * w // int(workers) for w in range(int(workers) + 1)]
    first, last = int(tile) * int(steps), (int(tile) + 1) * int(steps)
    return sum(max(a, first) < min(b, last) for a, b in zip(edges, edges[1:], strict=False)) - 1


def draw_shares(rng):
    """Eight hidden cases (tiles, sms, parts, steps)."""
    return [
        (int(rng.integers(1, 400)), int(rng.integers(2, 150)), int(rng.integers(1, 9)), int(rng.integers(9, 257)))
        for _ in range(8)
    ]


def draw_plans(rng):
    """Eight hidden cases (tile, tiles, steps, workers)."""
    cases = []
    for _ in range(8):
        tiles, steps = int(rng.integers(1, 20)), int(rng.integers(4, 65))
        cases.append((int(rng.integers(0, tiles)), tiles, steps, int(rng.integers(1, tiles * steps + 1))))
    return cases


EXERCISES = (
    Function(
        id="19.1",
        title="How much of the machine works?",
        parameters=("tiles", "sms", "parts", "steps"),
        reference=share,
        public=(
            (16, 132, 1, 256), (16, 132, 8, 256), (133, 132, 1, 16), (132, 132, 1, 16), (289, 132, 1, 34),
            (64, 132, 2, 16), (20, 132, 7, 33), (1, 132, 5, 16),
        ),
        draw=draw_shares,
        because="work over SMs × rounds × the longest part",
        hints=(
            (lambda t, s, p, k: t * p / (s * -(-t * p // s)), "a round lasts as long as its longest part: 33 steps in "
             "7 parts make parts of 5, not of 4.7"),
            (lambda t, s, p, k: min(1, t * p / s), "more parts than SMs take further rounds"),
            (lambda t, s, p, k: t * k / (s * -(-t // s) * k), "cutting along K makes more parts: tiles × parts"),
        ),
    ),
    Function(
        id="19.2",
        title="Deal out the steps",
        parameters=("tile", "tiles", "steps", "workers"),
        reference=helpers,
        public=(
            (0, 4, 8, 4), (0, 3, 8, 4), (1, 3, 8, 4), (2, 3, 8, 4), (0, 1, 16, 5), (1, 4, 10, 3), (3, 5, 16, 7),
            (0, 2, 64, 33), (1, 4, 4, 7),
        ),
        draw=draw_plans,
        because="each tile's further workers",
        hints=(
            (lambda i, t, k, w: -(-w // t) - 1, "shares do not begin where tiles begin: find the workers of the tile's "
             "first and last step"),
            (lambda i, t, k, w: ((i + 1) * k - 1) * w // (t * k) - i * k * w // (t * k), "p * workers // total is not "
             "always the worker of step p: where do the shares of 16 steps for 7 workers begin?"),
            (lambda i, t, k, w: helpers(i, t, k, w) + 1, "the owner is not its own helper"),
            (lambda i, t, k, w: (i + 1) * k * w // (t * k) - i * k * w // (t * k), "a share that ends exactly with the "
             "tile has no steps of the next one: ask for the tile's last step, not for the one after it"),
        ),
    ),
    Kernel(
        id="19.3",
        title="Add up the parts",
        spec=SUMMED,
        targets=(NoDouble(), ProductsOnce(), FlagsLeftZero(SPLIT)),
        probe_shape=(64, 64, 16),
    ),
)  # fmt: skip
