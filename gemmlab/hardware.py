"""Published peak rates of the GPUs that this book mentions, one row each, with the source of every row.

All rates are per GPU, in TFLOP/s (TOP/s for INT8), **dense**, with FP32 accumulation (INT32 for INT8); the 2:4
sparse rate is twice the dense one on GPUs whose `sparse` is True and is never used as a limit here. Bandwidth is
read plus write in GB/s (10^9 bytes). Shared-memory limits: CUDA C++ Programming Guide, "Technical Specifications
per Compute Capability": the block limit is 1 KB below the SM's from compute capability 8.0 on.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gemmlab.errors import GemmlabError

GUIDE = "https://docs.nvidia.com/cuda/cuda-c-programming-guide/#compute-capabilities"
_IMAGES = "https://images.nvidia.com"
SOURCES = {
    "t4": (
        "NVIDIA T4 datasheet",
        "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/tesla-t4/t4-tensor-core-datasheet-951643.pdf",
    ),
    "turing": (
        "Turing architecture whitepaper",
        f"{_IMAGES}/aem-dam/en-zz/Solutions/design-visualization/technologies/turing-architecture/"
        "NVIDIA-Turing-Architecture-Whitepaper.pdf",
    ),
    "v100": (
        "V100 datasheet",
        f"{_IMAGES}/content/technologies/volta/pdf/volta-v100-datasheet-update-us-1165301-r5.pdf",
    ),
    "volta": (
        "Volta architecture whitepaper",
        f"{_IMAGES}/content/volta-architecture/pdf/volta-architecture-whitepaper.pdf",
    ),
    "a100": (
        "A100 datasheet",
        "https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/"
        "nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf",
    ),
    "ampere": (
        "Ampere architecture whitepaper",
        f"{_IMAGES}/aem-dam/en-zz/Solutions/data-center/nvidia-ampere-architecture-whitepaper.pdf",
    ),
    "ga102": (
        "Ampere GA102 architecture whitepaper",
        "https://www.nvidia.com/content/PDF/nvidia-ampere-ga-102-gpu-architecture-whitepaper-v2.pdf",
    ),
    "ada": ("Ada architecture whitepaper", f"{_IMAGES}/aem-dam/Solutions/geforce/ada/nvidia-ada-gpu-architecture.pdf"),
    "l4": ("L4 product page", "https://www.nvidia.com/en-us/data-center/l4/"),
    "l40s": ("L40S product page", "https://www.nvidia.com/en-us/data-center/l40s/"),
    "hopper": (
        "H100 architecture whitepaper",
        "https://resources.nvidia.com/en-us-tensor-core/gtc22-whitepaper-hopper",
    ),
    "h100": ("H100 product page", "https://www.nvidia.com/en-us/data-center/h100/"),
    "h200": ("H200 product page", "https://www.nvidia.com/en-us/data-center/h200/"),
    "hgx": ("HGX platform page", "https://www.nvidia.com/en-us/data-center/hgx/"),
    "gb200": ("GB200 NVL72 product page", "https://www.nvidia.com/en-us/data-center/gb200-nvl72/"),
    "rtx-blackwell": (
        "RTX Blackwell architecture whitepaper",
        f"{_IMAGES}/aem-dam/Solutions/geforce/blackwell/nvidia-rtx-blackwell-gpu-architecture.pdf",
    ),
}

ITEM_BYTES = {
    "float64": 8, "float32": 4, "tf32": 4, "float16": 2, "bfloat16": 2, "fp8": 1, "int8": 1, "fp4": 0.5, "int32": 4,
}  # fmt: skip
_ALIASES = {
    "fp64": "float64",
    "fp32": "float32",
    "f32": "float32",
    "fp16": "float16",
    "f16": "float16",
    "bf16": "bfloat16",
    "float8_e4m3fn": "fp8",
    "float8_e5m2": "fp8",
    "e4m3": "fp8",
    "e5m2": "fp8",
    "float4_e2m1fn": "fp4",
    "uint8": "int8",
}


def rate_name(dtype) -> str:
    """Return the key of the peak rate that `dtype` (a string or NumPy dtype) runs at, e.g. "float8_e4m3fn" -> "fp8"."""
    name = str(dtype).lower()
    name = _ALIASES.get(name, name)
    if name not in ITEM_BYTES:
        raise GemmlabError(f"unknown data type {dtype!r}: use one of {', '.join(ITEM_BYTES)}")
    return name


@dataclass(frozen=True)
class GPU:
    """One GPU product. `rates` maps a data type to dense TFLOP/s; float32 and float64 are the CUDA-core rates."""

    key: str
    name: str
    cc: tuple[int, int]
    sms: int
    rates: dict[str, float]
    bandwidth_gbs: float
    memory_gb: int
    shared_kb_sm: int
    shared_kb_block: int
    sources: tuple[str, ...]
    clock_mhz: int | None = None  # boost clock of the float32 rate; None where none is published
    tensor_clock_mhz: int | None = None  # boost clock of the tensor rates where it differs
    fp32_lanes: int = 128  # FP32 FMA lanes per SM
    l2_mb: float | None = None
    sparse: bool = True
    note: str = ""
    match: tuple[str, ...] = field(default=(), repr=False)  # substrings of the driver's device name

    def peak(self, dtype, sparse: bool = False) -> float:
        """Return the published peak in TFLOP/s of `dtype`, dense unless `sparse`. Raise GemmlabError if it has none."""
        name = rate_name(dtype)
        if name not in self.rates:
            raise GemmlabError(f"{self.name} has no {name} rate: it has {', '.join(self.rates)}")
        if not sparse:
            return self.rates[name]
        if not self.sparse or name in ("float32", "float64"):
            raise GemmlabError(f"{self.name} has no 2:4 sparse {name} rate")
        return 2 * self.rates[name]

    def limit(self, dtype, clock_mhz: float | None = None) -> float:
        """Return the highest TFLOP/s possible for `dtype` at SM clock `clock_mhz`, never below the published peak.

        Boards may run above the clock at which the rate is published, so a timing is compared with this limit.
        """
        published = (
            self.tensor_clock_mhz
            if self.tensor_clock_mhz and rate_name(dtype) not in ("float32", "float64")
            else self.clock_mhz
        )
        scale = clock_mhz / published if clock_mhz and published else 1.0
        return self.peak(dtype) * max(1.0, scale)

    def ridge(self, dtype) -> float:
        """Return the intensity (FLOP per DRAM byte) at which `dtype` turns from memory bound to compute bound."""
        return self.peak(dtype) * 1e3 / self.bandwidth_gbs


def _tensor(fp16: float, tf32=None, bf16=None, fp8=None, int8=None, fp4=None, fp32=0.0, fp64=0.0) -> dict[str, float]:
    rates = {
        "float64": fp64,
        "float32": fp32,
        "tf32": tf32,
        "bfloat16": bf16,
        "float16": fp16,
        "fp8": fp8,
        "int8": int8,
        "fp4": fp4,
    }
    return {name: rate for name, rate in rates.items() if rate}


_HOPPER_SXM = _tensor(989.4, tf32=494.7, bf16=989.4, fp8=1978.9, int8=1978.9, fp32=66.9, fp64=33.5)
_HALF_ACC = "GeForce: tensor FP16 and FP8 run at twice this rate with FP16 accumulation"

# fmt: off
GPUS = {gpu.key: gpu for gpu in (
    GPU("t4", "T4", (7, 5), 40, _tensor(65, int8=130, fp32=8.1, fp64=0.25), 320, 16, 64, 64, ("t4", "turing"),
        clock_mhz=1590, fp32_lanes=64, l2_mb=4, sparse=False, match=("T4",), note="FP64 is 1/32 of FP32"),
    GPU("v100", "V100", (7, 0), 80, _tensor(125, fp32=15.7, fp64=7.8), 900, 32, 96, 96, ("v100", "volta"),
        clock_mhz=1530, fp32_lanes=64, l2_mb=6, sparse=False, match=("V100",), note="SXM2; not a target of CUDA 13"),
    GPU("a100-40", "A100 40 GB", (8, 0), 108, _tensor(312, tf32=156, bf16=312, int8=624, fp32=19.5, fp64=9.7),
        1555, 40, 164, 163, ("a100", "ampere"), clock_mhz=1410, fp32_lanes=64, l2_mb=40,
        match=("A100-SXM4-40GB", "A100-PCIE-40GB"), note="SXM4; FP64 tensor cores: 19.5"),
    GPU("a100-80", "A100 80 GB", (8, 0), 108, _tensor(312, tf32=156, bf16=312, int8=624, fp32=19.5, fp64=9.7),
        2039, 80, 164, 163, ("a100", "ampere"), clock_mhz=1410, fp32_lanes=64, l2_mb=40,
        match=("A100-SXM4-80GB", "A100 80GB PCIe"), note="SXM4; FP64 tensor cores: 19.5; the PCIe card has 1,935 GB/s"),
    GPU("rtx3090", "RTX 3090", (8, 6), 82, _tensor(71, tf32=35.6, bf16=71, int8=284, fp32=35.6, fp64=0.56),
        936, 24, 100, 99, ("ga102",), clock_mhz=1695, l2_mb=6, match=("RTX 3090",),
        note="GeForce: FP16 with FP16 accumulation runs at twice this rate; FP64 is 1/64 of FP32"),
    GPU("rtx4090", "RTX 4090", (8, 9), 128,
        _tensor(165.2, tf32=82.6, bf16=165.2, fp8=330.3, int8=660.6, fp32=82.6, fp64=1.29),
        1008, 24, 100, 99, ("ada",), clock_mhz=2520, l2_mb=72, match=("RTX 4090",),
        note=f"{_HALF_ACC}; FP64 is 1/64 of FP32"),
    GPU("l4", "L4", (8, 9), 58, _tensor(121, tf32=60, bf16=121, fp8=242.5, int8=242.5, fp32=30.3, fp64=0.47),
        300, 24, 100, 99, ("l4", "ada"), clock_mhz=2040, l2_mb=48, match=("NVIDIA L4",),
        note="the page prints sparse rates (120, 242, 485), halved here; 72 W"),
    GPU("l40s", "L40S", (8, 9), 142, _tensor(362, tf32=183, bf16=362, fp8=733, int8=733, fp32=91.6, fp64=1.43),
        864, 48, 100, 99, ("l40s", "ada"), clock_mhz=2520, l2_mb=96, match=("L40S",), note="FP64 is 1/64 of FP32"),
    GPU("h100-pcie", "H100 PCIe", (9, 0), 114,
        _tensor(756, tf32=378, bf16=756, fp8=1513, int8=1513, fp32=51.2, fp64=25.6), 2000, 80, 228, 227,
        ("h100", "hopper"), clock_mhz=1755, l2_mb=50, match=("H100 PCIe",), note="FP64 tensor cores: 51"),
    GPU("h100", "H100 SXM", (9, 0), 132, _HOPPER_SXM, 3350, 80, 228, 227, ("h100", "hopper"), clock_mhz=1980,
        tensor_clock_mhz=1830, l2_mb=50, match=("H100 80GB HBM3",), note="FP64 tensor cores: 66.9"),
    GPU("h200", "H200", (9, 0), 132, _HOPPER_SXM, 4800, 141, 228, 227, ("h200", "hopper"), clock_mhz=1980,
        tensor_clock_mhz=1830, l2_mb=60, match=("H200",),
        note="SXM; the H100's GH100 with HBM3e; rates to one decimal from its whitepaper; L2 as the driver reports"),
    GPU("b200", "B200", (10, 0), 148,
        _tensor(2250, tf32=1100, bf16=2250, fp8=4500, int8=4500, fp4=9000, fp32=75, fp64=37), 7700, 180, 228, 227,
        ("hgx",), match=("B200",), note="HGX, 1,000 W; FP64 tensor cores: 37"),
    GPU("gb200", "GB200", (10, 0), 148,
        _tensor(2500, tf32=1250, bf16=2500, fp8=5000, int8=5000, fp4=10000, fp32=80, fp64=40), 8000, 186, 228, 227,
        ("gb200",), match=("GB200",), note="one GPU of the GB200, 1,200 W; FP64 tensor cores: 40"),
    GPU("rtx5090", "RTX 5090", (12, 0), 170,
        _tensor(209.5, tf32=104.8, bf16=209.5, fp8=419, int8=838, fp4=1676, fp32=104.8, fp64=1.64),
        1792, 32, 100, 99, ("rtx-blackwell",), clock_mhz=2407, l2_mb=96, match=("RTX 5090",),
        note=f"{_HALF_ACC}; FP64 is 1/64 of FP32"),
)}
# fmt: on


def gpu(key: str | GPU) -> GPU:
    """Return the GPU of table key `key` ("h200") or of a driver's device name ("NVIDIA H200"); a GPU passes through.

    Raises GemmlabError when the table has no such GPU.
    """
    if isinstance(key, GPU):
        return key
    if key.lower() in GPUS:
        return GPUS[key.lower()]
    hits = [(len(text), g) for g in GPUS.values() for text in g.match if _names(text, key)]
    if not hits:
        raise GemmlabError(f"no GPU {key!r} in the hardware table: use one of {', '.join(GPUS)}")
    return max(hits, key=lambda hit: hit[0])[1]


def _names(text: str, device_name: str) -> bool:
    """Tell whether `text` stands in `device_name` as whole words, so that "NVIDIA L4" is not an L40S."""
    start = device_name.lower().find(text.lower())
    if start < 0:
        return False
    end = start + len(text)
    return (start == 0 or not device_name[start - 1].isalnum()) and (
        end == len(device_name) or not device_name[end].isalnum()
    )


def from_device(attributes: dict) -> GPU:
    """Describe a GPU that the table does not have from its own attributes: FP32 rate and bandwidth only.

    `attributes`: name, cc, sms, clock_khz, memory_clock_khz, bus_bits, memory_bytes (as the CUDA driver reports them).
    Memory is taken as double data rate. Tensor rates, and what the driver does not tell (0), stay unknown, so that no
    timing is judged by a guess: without a bandwidth there is no memory limit.
    """
    cc, sms, mhz = tuple(attributes["cc"]), attributes["sms"], attributes["clock_khz"] // 1000
    lanes = 64 if cc in ((7, 0), (7, 2), (7, 5), (8, 0)) else 128
    bandwidth = 2 * attributes["memory_clock_khz"] * 1e3 * attributes["bus_bits"] / 8 / 1e9 or float("inf")
    rates = {"float32": sms * lanes * 2 * mhz / 1e6} if mhz else {}
    return GPU(
        "device",
        attributes["name"],
        cc,
        sms,
        rates,
        bandwidth,
        attributes["memory_bytes"] // 10**9,
        0,
        0,
        (),
        clock_mhz=mhz,
        fp32_lanes=lanes,
        note="from the device's attributes",
    )
