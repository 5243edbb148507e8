"""Device detection explains every machine in one sentence and never raises."""

from types import SimpleNamespace

import pytest

from gemmlab import backend, compat
from gemmlab.device import Device, detect, device, target_of
from gemmlab.doctor import chapters


def driver(cc=(9, 0), version=13000, init=0, count=1, name=b"NVIDIA H200\0\0"):
    """A stand-in for cuda.bindings.driver."""
    status = lambda value: SimpleNamespace(value=value, name=f"CUDA_ERROR_{value}")  # noqa: E731
    attributes = SimpleNamespace(
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR=cc[0],
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR=cc[1],
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT=132,
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN=232448,
    )
    return SimpleNamespace(
        CUresult=SimpleNamespace(CUDA_ERROR_NO_DEVICE=status(100)),
        CUdevice_attribute=attributes,
        cuInit=lambda flags: (status(init),),
        cuDeviceGetCount=lambda: (status(0), count),
        cuDeviceGet=lambda index: (status(0), index),
        cuDeviceGetName=lambda size, handle: (status(0), name),
        cuDriverGetVersion=lambda: (status(0), version),
        cuDeviceGetAttribute=lambda which, handle: (status(0), which),
    )


def cupy(is_hip=False):
    return SimpleNamespace(cuda=SimpleNamespace(runtime=SimpleNamespace(is_hip=is_hip)))


def test_usable_gpu():
    found = detect(driver(), cupy, "Linux")
    assert (found.kind, found.name, found.cc) == ("gpu", "NVIDIA H200", (9, 0))
    assert (found.target, found.driver, found.sms, found.shared_per_block) == ("sm_90a", "13.0", 132, 232448)
    assert found.reason == "NVIDIA H200 (sm_90a) runs kernels natively"
    assert detect(driver((7, 5), name=b"Tesla T4"), cupy, "Linux").reason.endswith("the others run on the emulator")


@pytest.mark.parametrize(
    ("cc", "shared", "natively", "emulated"),
    [
        ((7, 5), 65536, "03–08", "11–19"),
        ((9, 0), 232448, "every chapter", "nothing"),
        ((10, 0), 232448, "03–13", "15–19"),
    ],
)
def test_the_doctor_sorts_chapters_by_their_kernels(monkeypatch, cc, shared, natively, emulated):
    here = Device("gpu", "a GPU", cc, target_of(cc), shared_per_block=shared)
    monkeypatch.setattr(backend, "device", lambda: here)
    rows = dict(chapters(here))
    assert natively in rows["natively"] and emulated in rows["emulated"]
    assert ("in part" in rows) == (natively != "every chapter")


@pytest.mark.parametrize(
    ("cc", "target"), [((7, 5), "sm_75"), ((8, 6), "sm_86"), ((10, 0), "sm_100a"), ((12, 0), "sm_120a")]
)
def test_targets(cc, target):
    assert target_of(cc) == target


def raising(*_):
    raise RuntimeError("Failed to dlopen libcuda.so.1")


@pytest.mark.parametrize(
    ("stand_in", "modules", "system", "kind", "words"),
    [
        (None, lambda: None, "Darwin", "none", "macOS"),
        (None, lambda: None, "Linux", "none", "cuda-bindings is missing"),
        (SimpleNamespace(cuInit=raising), lambda: None, "Linux", "none", "no NVIDIA driver found"),
        (driver(init=100), lambda: None, "Linux", "none", "no NVIDIA GPU found"),
        (driver(init=3), lambda: None, "Linux", "none", "does not start"),
        (driver(count=0), lambda: None, "Linux", "none", "no NVIDIA GPU found"),
        (driver(init=100), lambda: cupy(is_hip=True), "Linux", "unsupported", "not an NVIDIA GPU"),
        (driver(cc=(6, 1), name=b"GTX 1080"), cupy, "Linux", "unsupported", "compute capability 6.1"),
        (driver(version=11040), cupy, "Linux", "unsupported", "update the NVIDIA driver"),
        (driver(), lambda: None, "Linux", "unsupported", "CuPy is missing: pip install cupy-cuda13x"),
        (driver(version=12080), lambda: None, "Linux", "unsupported", "pip install cupy-cuda12x"),
    ],
)
def test_every_other_machine_gets_one_sentence(monkeypatch, stand_in, modules, system, kind, words):
    monkeypatch.setattr(compat, "cupy_distribution", lambda: "cupy-cuda12x")
    found = detect(stand_in, modules, system)
    assert found.kind == kind
    assert words in found.reason and "emulator" in found.reason and "\n" not in found.reason
    assert found.target is None


def test_cu13_wheels_need_a_cuda_13_driver(monkeypatch):
    monkeypatch.setattr(compat, "cupy_distribution", lambda: "cupy-cuda13x")
    assert "need 13.0" in detect(driver(version=12080), cupy, "Linux").reason


def test_the_gpu_can_be_hidden(monkeypatch):
    monkeypatch.setenv("GEMMLAB_BACKEND", "emulator")
    device.cache_clear()
    assert device().kind == "none" and "GEMMLAB_BACKEND" in device().reason
    device.cache_clear()
