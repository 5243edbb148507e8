"""Exercises of chapter 03: the naive kernel."""

from dataclasses import replace

import kernels
from gemmlab.grading.exercise import Value
from gemmlab.grading.kernel_exercise import Kernel

NAIVE = kernels.spec("k03_naive")

EXERCISES = (
    Kernel(id="03.1", title="Guard and loop", spec=replace(NAIVE, name="03.1")),
    Value(
        id="03.2",
        title="Intensity by requested bytes",
        unit="FLOP/byte",
        expected=2 / (2 + 2),
        because="two FLOP for one FP16 element of A and one of B",
        hints=(
            (0.25, "that is the FP32 kernel, or one FLOP per multiply-add; an FP16 element has 2 bytes"),
            (1.0, "that is FLOP per element; an FP16 element has 2 bytes"),
            (2.0, "that is FLOP per step; divide by the bytes that the step loads"),
            (1 / 3, "the accumulator stays in a register: a step loads only A and B"),
            (2.0 / 8, "an FP16 element has 2 bytes"),
        ),
    ),
    Kernel(
        id="03.3",
        title="The twin in CUDA C++",
        spec=replace(kernels.spec("k03_naive_cuda"), name="03.3"),
    ),
    Kernel(id="03.4", title="Repair", spec=replace(NAIVE, name="03.4")),
)
