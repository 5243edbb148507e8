#!/usr/bin/env python3
"""Write the tables of results/ and of the hardware table into the pages that show them, between two markers.

    python3 tools/results_tables.py            write what is out of date
    python3 tools/results_tables.py --check    fail, and name the page, when something is out of date

A table stands between `<!-- begin: NAME (tools/results_tables.py) -->` and `<!-- end: NAME -->`; everything between the
two is replaced.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import kernels  # noqa: E402
from gemmlab import results, sanitizer  # noqa: E402
from gemmlab.errors import GemmlabError  # noqa: E402
from gemmlab.hardware import GPUS, SOURCES  # noqa: E402
from tools import counters_table, emulator_tables  # noqa: E402

PAGES = ("book/ladder.md", "book/hardware.md", "book/index.md", "book/emulator.md", "README.md")
MARKER = re.compile(
    r"(<!-- begin: (?P<name>[\w-]+) \(tools/results_tables\.py\) -->\n).*?(<!-- end: (?P=name) -->)", re.DOTALL
)
GPU = "nvidia_h200"
SHAPE = (4096, 4096, 4096)
NONE = "–"
PARTS = {"simt": "CUDA cores", "tensor": "Tensor cores, a warp at a time", "hopper": "Tensor cores, Hopper's way"}
CEILINGS = {
    "dram_copy": "device memory, copy (read plus write)",
    "dram_read": "device memory, read alone",
    "dram_write": "device memory, write alone",
    "fp32_fma": "FP32 FMA, registers only",
    "mma_tf32": "TF32 mma.sync, registers only",
    "mma_bf16": "BF16 mma.sync, registers only",
    "mma_f16": "FP16 mma.sync, registers only",
    "mma_s8": "INT8 mma.sync, registers only",
    "mma_ldmatrix_bf16": "BF16 mma.sync with ldmatrix",
    "wgmma_bf16": "BF16 wgmma, shared memory",
    "wgmma_f16": "FP16 wgmma, shared memory",
    "wgmma_bf16_zeros": "BF16 wgmma on zeros (no measure of real data)",
}


def table(head: list[str], rows: list[list[str]], right: int = 1) -> str:
    """Return a Markdown table; columns from index `right` on are aligned to the right."""
    rule = ["---" if i < right else "--:" for i in range(len(head))]
    return "".join("| " + " | ".join(row) + " |\n" for row in [head, rule, *rows])


def share(record: dict) -> str:
    return f"{100 * record['ratio']:.1f} %" if record["ratio"] else NONE


def three_digits(value: float) -> str:
    """Return three significant digits, zeros included: 5.00, 31.1, 989; whole numbers from 1,000 on."""
    return f"{value:#.3g}".rstrip(".") if value < 999.5 else f"{value:,.0f}"


def data_of(directory: Path | None) -> dict | None:
    path = (directory or results.DIRECTORY) / f"{GPU}.json"
    return results.load(path) if path.exists() else None


def caption(data: dict | None, records: list[dict]) -> str:
    """Say which machine, when and how: the line under a table of measurements."""
    if not records:
        return "\nNo measurement is recorded yet: `python3 tools/record_gpu.py` records them on a GPU.\n"
    machine, dates = data["machine"], sorted({r["date"] for r in records})
    rounds = sorted({r["rounds"] for r in records})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    return (
        f"\nRecorded on {machine['gpu']}, {when}: driver {machine['driver']}, CUDA {machine['cuda_runtime']}, cuBLAS "
        f"{machine['cublas']}; random normal data, cold L2, median of {' or '.join(map(str, rounds))} interleaved "
        "rounds; the share is that of the fastest of cuBLAS, cuBLASLt's first heuristic and the best of its first "
        "eight.\n"
    )


def ladder(directory: Path | None = None) -> str:
    """One row per rung: what changed, and its rate and share of cuBLAS at 4096³."""
    data = data_of(directory)
    records = {r["kernel"]: r for r in cold(data) if (r["M"], r["N"], r["K"]) == SHAPE}
    rows, shown = [], []
    for spec in kernels.RUNGS:
        record = records.get(spec.name)
        shown += [record] if record else []
        rate = [three_digits(record["tflops"]), share(record)] if record else [NONE, NONE]
        rows.append([str(spec.rung), spec.chapter, spec.title, spec.language, spec.a_dtype, *rate])
    head = ["rung", "chapter", "kernel", "language", "type", "TFLOP/s at 4096³", "share of cuBLAS"]
    return table(head, rows, right=5) + caption(data, shown)


def climb(directory: Path | None = None) -> str:
    """One row per part of the ladder, a folder of kernels/: its slowest and its fastest rung at 4096³."""
    data, rows = data_of(directory), []
    records = {r["kernel"]: r for r in cold(data) if (r["M"], r["N"], r["K"]) == SHAPE}
    for folder, part in PARTS.items():
        rungs = [s for s in kernels.RUNGS if s.file.startswith(f"{folder}/")]
        found = sorted((records[s.name] for s in rungs if s.name in records), key=lambda r: r["tflops"])
        chapters = sorted({s.chapter for s in rungs})
        span = f"{chapters[0]} to {chapters[-1]}"
        if not found:
            rows.append([part, span, rungs[0].a_dtype, *[NONE] * 4])
            continue
        rates = [three_digits(found[0]["tflops"]), three_digits(found[-1]["tflops"]), share(found[-1])]
        rows.append([part, span, rungs[0].a_dtype, *rates, f"`{found[-1]['kernel']}`"])
    head = ["part", "chapters", "type", "slowest rung, TFLOP/s", "fastest rung, TFLOP/s", "share of cuBLAS", "which"]
    shown = [records[s.name] for s in kernels.RUNGS if s.name in records]
    return table(head, rows, right=3) + caption(data, shown)


def ladder_full(directory: Path | None = None) -> str:
    """One row per kernel and shape, the spread and every rival, under a heading for each chapter."""
    data = data_of(directory)
    records, chapters = cold(data), {}
    for r in records:
        low, high = results.spread(r["samples_us"])
        spread = f"{100 * (high - low) / r['time_us']:.1f} %"
        times = [results.show_time(r["time_us"]), spread, three_digits(r["tflops"])]
        rivals = [three_digits(r["rivals"][name]) if name in r["rivals"] else NONE for name in results.RIVAL_NAMES]
        row = [f"`{r['kernel']}`", shape_of(r), *times, *rivals, share(r)]
        chapters.setdefault(r["chapter"], []).append(row)
    head = ["kernel", "shape", "time", "spread", "TFLOP/s", "cuBLAS", "in TF32", "Lt first", "Lt best", "share"]
    parts = [f"### Chapter {chapter}\n\n{table(head, chapters[chapter], right=2)}\n" for chapter in sorted(chapters)]
    return "".join(parts).removesuffix("\n") + caption(data, records)


def sustained(directory: Path | None = None) -> str:
    """Kernels that ran without a pause: rate, best rival, and the clock and power meanwhile."""
    data, rows = data_of(directory), []
    for r in [r for r in data["records"] if r["mode"] == "sustained"] if data else []:
        rates = [three_digits(r["tflops"]), three_digits(r["rival_best_tflops"]), share(r)]
        state = [f"{r[key]['median']:,.0f}" if r[key].get("median") else NONE for key in ("clocks_mhz", "power_w")]
        rows.append([f"`{r['kernel']}`", shape_of(r), *rates, *state, r["date"]])
    if not rows:
        return "No sustained run is recorded yet: `tools/record_gpu.py KERNEL --sustained 5` makes one on a GPU.\n"
    head = ["kernel", "shape", "TFLOP/s", "best of cuBLAS", "share", "SM clock, MHz", "power, W", "date"]
    return table(head, rows, right=2)


def shape_of(record: dict) -> str:
    """Write a shape as "4096³" or "512×4096×4096"."""
    sizes = record["M"], record["N"], record["K"]
    return f"{sizes[0]}³" if len(set(sizes)) == 1 else "×".join(map(str, sizes))


def ladder_traffic(directory: Path | None = None) -> str:
    """What the profiler saw of each kernel: DRAM bytes, hit rates, sectors per request."""
    rows = []
    for r in cold(data_of(directory)):
        seen = r.get("profile", {})
        if results.dram_bytes(r) is None:
            continue
        rates = [f"{seen[key]:.1f}" if key in seen else NONE for key in ("l1_hit_pct", "l2_hit_pct", "tensor_pct")]
        sectors = f"{seen['load_sectors'] / seen['load_requests']:.2f}" if seen.get("load_requests") else NONE
        rows.append([f"`{r['kernel']}`", shape_of(r), f"{results.dram_bytes(r) / 1e6:,.1f}", *rates, sectors])
    if not rows:
        return "No profile is recorded yet.\n"
    head = ["kernel", "shape", "DRAM read + write, MB", "L1 hit, %", "L2 hit, %", "tensor pipes, %"]
    head.append("sectors per load request")
    return table(head, rows, right=2) + "\nOne launch under Nsight Compute, caches flushed before it.\n"


def ladder_counters(directory: Path | None = None) -> str:
    """What the emulator counts beside what the profiler counted."""
    rows = counters_table.rows(cold(data_of(directory)))
    if not rows:
        return "No profile is recorded yet.\n"
    return table(["kernel", "shape", *counters_table.COLUMNS.values()], rows, right=2) + counters_table.NOTE


def cold(data: dict | None) -> list[dict]:
    return [r for r in data["records"] if r["mode"] == "cold"] if data else []


def hardware_compute(directory: Path | None = None) -> str:
    """Peak rates, dense."""
    kinds = ("float64", "float32", "tf32", "float16", "fp8", "int8", "fp4")
    rows = [
        [g.name, f"{g.cc[0]}.{g.cc[1]}", str(g.sms), *(f"{g.rates[k]:,g}" if k in g.rates else NONE for k in kinds)]
        for g in GPUS.values()
    ]
    head = ["GPU", "cc", "SMs", "FP64", "FP32", "TF32", "FP16, BF16", "FP8", "INT8", "FP4"]
    return table(head, rows)


def hardware_memory(directory: Path | None = None) -> str:
    """Memory sizes, bandwidth, and the ridge points that follow."""
    rows = []
    for g in GPUS.values():
        rows.append(
            [g.name, f"{g.memory_gb}", f"{g.bandwidth_gbs:,g}", f"{g.l2_mb:g}" if g.l2_mb else NONE]
            + [f"{g.shared_kb_sm} / {g.shared_kb_block}", f"{g.ridge('float32'):.1f}", f"{g.ridge('float16'):.0f}"]
        )
    head = ["GPU", "memory, GB", "bandwidth, GB/s", "L2, MB", "shared memory per SM / block, KB"]
    return table([*head, "ridge FP32", "ridge FP16 dense"], rows)


def hardware_sources(directory: Path | None = None) -> str:
    """Where each row comes from, and what is special about it."""
    rows = []
    for g in GPUS.values():
        links = ", ".join(f"[{SOURCES[key][0]}]({SOURCES[key][1]})" for key in g.sources)
        rows.append([g.name, f"{g.clock_mhz:,}" if g.clock_mhz else NONE, links, g.note or NONE])
    return table(["GPU", "boost clock, MHz", "source", "note"], rows, right=9)


def ceilings(directory: Path | None = None) -> str:
    """Measured ceilings beside the published ones."""
    data = data_of(directory)
    rows = []
    for name, what in CEILINGS.items():
        c = data["ceilings"].get(name) if data else None
        if c:
            clocks = c["clocks_mhz"].get("median")
            rows.append(
                [what, f"{c['value']:,.1f} {c['unit']}", c["how"], f"{clocks:.0f}" if clocks else NONE, c["date"]]
            )
    if not rows:
        return "No ceilings are recorded yet: `python3 tools/record_gpu.py` records them on a GPU.\n"
    return table(["ceiling", f"measured on {data['machine']['gpu']}", "how", "SM clock, MHz", "date"], rows, right=9)


def sanitizer_table(directory: Path | None = None) -> str:
    """What compute-sanitizer said about each CUDA C++ kernel."""
    path = (directory or results.DIRECTORY) / "sanitizer" / f"{GPU}.json"
    found = sanitizer.verdicts(kernels.LADDER, path)
    if not found:
        return "No run of compute-sanitizer is recorded yet: `python3 tools/record_sanitizer.py` makes one on a GPU.\n"
    tools = [tool for tool in sanitizer.TOOLS if any(tool in seen for seen in found.values())]
    rows = [[f"`{name}`", *(seen.get(tool, NONE) for tool in tools)] for name, seen in found.items()]
    note = "\nTwo launches each, one at a ragged shape, under compute-sanitizer on the GPU of record.\n"
    controls = sanitizer.seen_by_racecheck(path)
    if "racecheck" in tools and controls:
        counts = "; ".join(f"{what}: {count} report{'s' * (count != 1)}" for what, count in controls)
        note += f"What racecheck says of kernels broken on purpose: {counts}. It does not follow TMA and `wgmma`.\n"
    return table(["kernel", *tools], rows, right=9) + note


def emulator_goldens(directory: Path | None = None) -> str:
    head, rows, note = emulator_tables.goldens()
    return table(head, rows, right=9) + note


def emulator_speed(directory: Path | None = None) -> str:
    head, rows, note = emulator_tables.speed()
    return table(head, rows) + note


TABLES = {
    "ladder": ladder, "climb": climb, "ladder-full": ladder_full, "ladder-traffic": ladder_traffic,
    "ladder-counters": ladder_counters, "sustained": sustained, "sanitizer": sanitizer_table, "ceilings": ceilings,
    "emulator-goldens": emulator_goldens, "emulator-speed": emulator_speed,
    "hardware-compute": hardware_compute, "hardware-memory": hardware_memory, "hardware-sources": hardware_sources,
}  # fmt: skip


def render(text: str, page: str, directory: Path | None = None) -> str:
    """Return `text` with every table brought up to date. Raises GemmlabError for an unknown table, or without any."""
    names = [match["name"] for match in MARKER.finditer(text)]
    if not names:
        raise GemmlabError(
            f"{page} has no <!-- begin: NAME (tools/results_tables.py) --> ... <!-- end: NAME --> for one of "
            f"{', '.join(TABLES)}"
        )
    for name in names:
        if name not in TABLES:
            raise GemmlabError(f"{page}: no table {name!r}; known are {', '.join(TABLES)}")
    return MARKER.sub(lambda m: f"{m[1]}\n{TABLES[m['name']](directory)}\n{m[3]}", text)


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 when a page is out of date")
    options = parser.parse_args(argv)
    stale = []
    try:
        for page in PAGES:
            path = ROOT / page
            text = path.read_text(encoding="utf-8")
            new = render(text, page)
            if new != text:
                stale.append(page)
                if not options.check:
                    path.write_text(new, encoding="utf-8")
    except (GemmlabError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    if options.check and stale:
        print(f"out of date: {', '.join(stale)}; run python3 tools/results_tables.py", file=sys.stderr)
        return 1
    for page in stale:
        print(f"updated {page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
