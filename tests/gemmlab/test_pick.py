"""The choice of a kernel: near the best of what was recorded, explained, and right."""

import json

import ml_dtypes
import numpy as np
import pytest

import gemmlab as gl
from gemmlab import pick, results
from gemmlab.cli import main

LOSS = 0.05  # of the best recorded time that a choice may cost


def shapes_with_a_choice() -> dict[tuple, dict[str, float]]:
    """Return {(M, N, K, dtype): {kernel: µs}} of the recorded shapes at which at least two candidates stand."""
    found: dict[tuple, dict[str, float]] = {}
    for record in results.load(results.DIRECTORY / "nvidia_h200.json")["records"]:
        if record["mode"] == "cold" and record["dtype"] in pick.DTYPES and record["layout"] == "row,row->row":
            shape = record["M"], record["N"], record["K"], record["dtype"]
            found.setdefault(shape, {})[record["kernel"]] = record["time_us"]
    names = {plan.name + suffix for plan in pick.PLANS for suffix in pick.DTYPES.values()}
    return {shape: times for shape, times in found.items() if len(names & set(times)) > 1}


def test_every_choice_is_near_the_best_recorded_kernel():
    slow = []
    for (M, N, K, dtype), times in shapes_with_a_choice().items():
        name, best = gl.best_kernel(M, N, K, dtype).spec.name, min(times, key=times.get)
        if name not in times or times[name] > (1 + LOSS) * times[best]:
            slow.append(f"{M}x{N}x{K} {dtype}: {name} takes {times.get(name)} µs, {best} {times[best]}")
    assert not slow, "\n".join(slow)


@pytest.mark.parametrize(
    "shape, kernel",
    [
        ((1024, 1024, 1024), "k19_one_wave_64"),  # few tiles: small ones
        ((512, 512, 16384), "k19_split_k"),  # few tiles, a long K: all SMs share it
        ((2176, 2176, 2176), "k19_one_wave"),  # 132 tiles of 192 x 200: one for each SM
        ((4096, 4096, 512), "k18_pingpong"),  # a short K: stores hidden behind the other tile
        ((512, 4096, 4096), "k19_one_wave_128"),  # 128 tiles: nothing to stay for
        ((2048, 2048, 2048), "k18_cooperative"),
        ((4096, 4096, 4096), "k18_cooperative"),  # power is the limit: the fewest bytes per multiply-add
    ],
)
def test_choices_that_the_model_is_for(shape, kernel):
    spec, reasons = gl.best_kernel(*shape)
    assert spec.name == kernel and reasons.candidates[0][0] == kernel
    times = [us for _, us, _ in reasons.candidates]
    assert times == sorted(times) and len(times) == len(pick.PLANS)
    assert kernel in str(reasons) and "steps" in str(reasons) and "132 SMs" in str(reasons)


def test_fp16_takes_the_twin():
    assert gl.best_kernel(4096, 4096, 4096, "float16").spec.name == "k18_cooperative_f16"


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
def test_matmul_is_right_and_says_what_it_padded(dtype, capsys):
    rng = np.random.default_rng(0)
    A, B = (rng.standard_normal(shape).astype(dtype) for shape in ((33, 72), (72, 65)))
    C = gl.matmul(A, B, backend="emulator")
    assert C.dtype == A.dtype
    exact = A.astype(np.float64) @ B.astype(np.float64)
    np.testing.assert_allclose(C.astype(np.float64), exact, rtol=2**-7, atol=1e-3)
    assert "B padded to rows of 72 elements for TMA" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, words",
    [
        ((0, 1, 1), "M = 0: give an integer"),
        ((1, 1, 1.5), "K = 1.5: give an integer"),
        ((1, 1, 1, "float32"), "take bfloat16 or float16"),
    ],
)
def test_what_cannot_be_chosen_is_one_line(arguments, words):
    with pytest.raises(gl.GemmlabError, match=words):
        gl.best_kernel(*arguments)
    with pytest.raises(gl.GemmlabError, match="give both the same type"):
        gl.matmul(np.zeros((8, 8), np.float16), np.zeros((8, 8), np.float32))


def test_the_command(capsys, monkeypatch):
    assert main(["pick", "1024", "1024", "1024", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["kernel"] == "k19_one_wave_64" and found["candidates"][0]["time_us"] < 10
    monkeypatch.setattr(gl.gpu, "device", lambda: gl.Device("none", reason="no NVIDIA driver found"))
    assert main(["pick", "64", "64", "64", "--autotune"]) == 2
    assert "no NVIDIA driver found" in capsys.readouterr().err
