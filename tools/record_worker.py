"""The processes that tools/record_gpu.py starts: each measures one type of problem, or is what the profiler sees."""

import concurrent.futures
import os
import sys
import time

MOST_TOGETHER = 64  # kernels in one comparison: their rivals are timed once for all of them


def attempt(what: str, function, *args) -> bool:
    """Run one case; print its outcome in one line and return whether it succeeded."""
    start = time.perf_counter()
    try:
        text = function(*args)
    except Exception as error:  # noqa: BLE001 - a failed case must not end the others
        print(f"FAILED {what}: {type(error).__name__}: {error}", flush=True)
        return False
    print(f"{text}  [{time.perf_counter() - start:.1f} s]", flush=True)
    return True


def ceilings(options) -> bool:
    """Measure what the machine gives at most, DRAM and FP32 first, tensor cores where it has them."""
    from gemmlab import results
    from gemmlab.device import device
    from gemmlab.measuring import telemetry
    from gemmlab.measuring.ceilings import measure_ceilings
    from gemmlab.measuring.tensor_ceilings import measure_tensor_ceilings

    def run(measure):
        found = measure()
        machine = telemetry.machine(telemetry.Telemetry())
        results.merge(results.path_of(machine["gpu"], options.out), machine, ceilings=found)
        return "ceilings: " + ", ".join(f"{name} {c['value']:.1f} {c['unit']}" for name, c in found.items())

    good = attempt("ceilings", run, measure_ceilings)
    return attempt("tensor ceilings", run, measure_tensor_ceilings) and good if device().cc >= (8, 0) else good


def measure(options, restart) -> bool:
    """Measure kernels of one problem at every shape; `restart(kernels, shapes)`: the command line of a fresh start."""
    import kernels

    specs = [kernels.spec(name) for name in options.kernels]
    good = compile_all(specs)
    for number, shape in enumerate(options.shapes):
        benches, like = {}, None
        for spec in specs:
            try:
                bench = _bench(spec, shape, options, like)
                like = like or bench
                benches[bench] = bench.kernel()
            except Exception as error:  # noqa: BLE001 - a failed kernel must not end the others
                good = False
                print(f"FAILED {spec.name} at {_text(shape)}: {type(error).__name__}: {error}", flush=True)
                if _lost():  # the GPU's context died with this kernel: go on without it in a new process
                    others = [other.name for other in specs if other is not spec]
                    if others:
                        os.execv(sys.executable, restart(others, options.shapes[number:]))
                    return False
        for waiting in _alike(benches):
            for start in range(0, len(waiting), MOST_TOGETHER):
                part = {bench: benches[bench] for bench in waiting[start : start + MOST_TOGETHER]}
                good = attempt(f"comparison at {_text(shape)}", _compare, part, options) and good
    return good


def compile_all(specs) -> bool:
    """Compile CUDA C++ on several cores: NVRTC runs beside Python."""
    from gemmlab.compile import compile_kernel
    from gemmlab.errors import GemmlabError

    def build(spec):
        try:
            compile_kernel(spec)
        except GemmlabError:
            return False  # the kernel's own turn tells why
        return True

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        return all(list(pool.map(build, [spec for spec in specs if spec.language == "cuda"])))


def _bench(spec, shape, options, like):
    from gemmlab.errors import GemmlabError
    from gemmlab.measuring.measure_gpu import Bench

    if not spec.accepts(*shape):
        raise GemmlabError(f"takes only multiples of {spec.align}")
    return Bench(spec, *shape, options.mode, options.seconds, like)


def _alike(benches) -> list[list]:
    """Return groups of kernels that get the same arrays padded, and so do their rivals."""
    groups = {}
    for bench in benches:
        groups.setdefault(bench.padded, []).append(bench)
    return list(groups.values())


def _compare(benches, options) -> str:
    from gemmlab import results
    from gemmlab.errors import GemmlabError
    from gemmlab.measuring import telemetry
    from gemmlab.measuring.measure_gpu import together

    found = together(benches, options.rounds)
    records = [one.record for one in found.values() if not isinstance(one, GemmlabError)]
    if records:
        machine = telemetry.machine(telemetry.Telemetry(), records[0]["cublas"])
        results.merge(results.path_of(machine["gpu"], options.out), machine, records)
    for bench, one in found.items():
        print(f"FAILED {bench.spec.name}: {one}" if isinstance(one, GemmlabError) else one, flush=True)
    if len(records) < len(found):
        raise GemmlabError(f"{len(found) - len(records)} of {len(found)} were refused")
    return f"{len(found)} kernels"


def _lost() -> bool:
    """Say whether the GPU's context is unusable, as after an illegal address."""
    import cupy

    try:
        cupy.zeros(1).sum().get()
    except Exception:  # noqa: BLE001 - whatever it is, nothing runs any more
        return True
    return False


def launch(options) -> bool:
    """Launch every kernel once at the first shape: what the profiler looks at. Prints their names in order."""
    import cupy

    import kernels
    from gemmlab.reference import Problem

    specs, shared, done = [kernels.spec(name) for name in options.kernels], {}, []
    compile_all(specs)
    for spec in specs:
        try:
            options.mode = "warm"
            bench = _bench(spec, options.shapes[0], options, shared.get(Problem.of(spec)))
            shared.setdefault(Problem.of(spec), bench)
            bench.bound(0)()
            cupy.cuda.Device().synchronize()
            done.append(spec.name)
        except Exception as error:  # noqa: BLE001 - a failed kernel must not end the others
            print(f"FAILED launch of {spec.name}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            if _lost():
                break
    print("launched:", *done, flush=True)
    return len(done) == len(specs)


def _text(shape) -> str:
    return "x".join(map(str, shape))
