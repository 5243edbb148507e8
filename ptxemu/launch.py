"""Launches: what fits, what the arguments mean, and the run itself."""

from __future__ import annotations

import numpy as np

from .errors import LaunchError
from .machine import Machine, timed
from .memory import Array, Memory, round_up
from .module import BATCH_LANES
from .observe import Observer
from .profile import H200, runs_on
from .report import Report
from .tensormap import NBYTES, TensorMap
from .trace import Trace

MAX_LANES = 131_072  # bound on the lanes of a grid whose CTAs wait for each other, for the sake of memory
DEFAULT_SHARED_LIMIT = 48 << 10


def _triple(value, what):
    parts = (value,) if isinstance(value, (int, np.integer)) else tuple(value)
    if not 1 <= len(parts) <= 3 or any(not isinstance(p, (int, np.integer)) or p < 1 for p in parts):
        raise LaunchError(f"{what} {value!r}: give one to three positive integers")
    return tuple(int(p) for p in parts) + (1,) * (3 - len(parts))


def _check_fit(entry, grid, block, shared, profile):
    threads = block[0] * block[1] * block[2]
    if threads > 1024:
        raise LaunchError(f"block {block} has {threads} threads; a block holds at most 1024")
    if block[2] > 64:
        raise LaunchError(f"block {block}: the z dimension is at most 64")
    if grid[1] > 65535 or grid[2] > 65535 or grid[0] > 2**31 - 1:
        raise LaunchError(f"grid {grid}: y and z are at most 65535, x at most 2147483647")
    if entry.maxntid:
        limit = int(np.prod(entry.maxntid))
        if threads > limit:
            raise LaunchError(
                f"block {block} has {threads} threads, but {entry.name} was compiled for at most {limit} "
                "(__launch_bounds__)"
            )
    exact = entry.directives.get("reqntid")
    if exact and tuple(exact) + (1,) * (3 - len(exact)) != block:
        raise LaunchError(f"block {block}: {entry.name} requires {exact} (.reqntid)")
    if shared < 0:
        raise LaunchError(f"shared={shared}: give a number of bytes that is not negative")
    total = entry.static_shared + shared
    if entry.static_shared > DEFAULT_SHARED_LIMIT:
        raise LaunchError(
            f"{entry.name} has {entry.static_shared} bytes of static shared memory; static arrays may take at most "
            f"{DEFAULT_SHARED_LIMIT}: use dynamic shared memory"
        )
    if total > profile.shared_per_block_optin:
        raise LaunchError(
            f"{total} bytes of shared memory ({entry.static_shared} static + {shared} dynamic), but a block on "
            f"{profile.name} can have at most {profile.shared_per_block_optin}: use smaller tiles or fewer stages"
        )


def _check_cluster(entry, cluster, grid, profile):
    """The cluster's dimensions, if it can be launched."""
    compiled = entry.directives.get("reqnctapercluster", ())
    compiled = _triple(compiled, "cluster") if compiled else None
    dims = compiled or (1, 1, 1) if cluster is None else _triple(cluster, "cluster")
    if compiled and dims != compiled:
        raise LaunchError(f"cluster {dims}: {entry.name} was compiled for {compiled} (__cluster_dims__)")
    size = dims[0] * dims[1] * dims[2]
    if size == 1:
        return dims
    if size > profile.max_cluster:
        raise LaunchError(
            f"cluster {dims} has {size} CTAs; a cluster on {profile.name} has at most {profile.max_cluster}"
        )
    if any(n % c for n, c in zip(grid, dims, strict=True)):
        raise LaunchError(f"grid {grid} is no multiple of the cluster {dims} in every dimension")
    return dims


def _check_target(entry, profile):
    target = entry.module.target
    if not runs_on(target, profile):
        raise LaunchError(
            f"PTX for {target} does not run on {profile.name} (sm_{profile.cc[0]}{profile.cc[1]}): "
            "compile for it, or pass profile=ptxemu.profile_for(target)"
        )


def _bind(entry, args):
    """(arrays [(position, Array)], the rest {position: bytes or scalar})."""
    if len(args) != len(entry.params):
        raise LaunchError(f"{entry.name} takes {len(entry.params)} arguments, got {len(args)}")
    arrays, values = [], {}
    for position, (arg, param) in enumerate(zip(args, entry.params, strict=True)):
        if isinstance(arg, np.ndarray) and arg.ndim == 0 and not isinstance(arg, Array) and param.size != 8:
            arg = arg[()]
        if isinstance(arg, TensorMap):
            arrays.append((("map", position), arg.array if isinstance(arg.array, Array) else Array(arg.array)))
            if param.size == NBYTES:
                values[position] = arg
                continue
            arg = Array(np.frombuffer(arg.encode(0), np.uint8).copy(), name=f"tensor map {position}", role="in")
            values["map", position] = args[position]
        if isinstance(arg, np.ndarray):
            arg = Array(arg)
        if isinstance(arg, Array):
            array = arg.array
            if param.size != 8:
                raise LaunchError(
                    f"argument {position}: got an array, but parameter {param.name} is {param.dtype} of "
                    f"{param.size} bytes, no pointer"
                )
            if not isinstance(array, np.ndarray) or not (array.flags.c_contiguous or array.flags.f_contiguous):
                raise LaunchError(
                    f"argument {position} ({arg.name or 'array'}): pass a C- or F-contiguous NumPy array "
                    "(numpy.ascontiguousarray makes one)"
                )
            arrays.append((position, arg))
        else:
            values[position] = arg
    return arrays, values


_DTYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16}


def _scalar_bytes(value, param, position):
    if isinstance(value, (bytes, bytearray, memoryview)):
        data = bytes(value)
        if len(data) != param.size:
            raise LaunchError(
                f"argument {position}: {len(data)} bytes for parameter {param.name}, which has {param.size}"
            )
        return data
    if (
        isinstance(value, np.generic)
        and not np.issubdtype(value.dtype, np.integer)
        and value.dtype.itemsize == param.size
    ):
        return value.tobytes()
    if isinstance(value, np.generic) and value.dtype == np.bool_:
        value = int(value)
    if param.dtype in _DTYPES:
        return _DTYPES[param.dtype](value).tobytes()
    if isinstance(value, (float, np.floating)):
        if param.size in (4, 8):  # newer compilers declare floats as .b32 or .b64
            return (np.float32 if param.size == 4 else np.float64)(value).tobytes()
        raise LaunchError(f"argument {position}: {value!r} is no integer, but parameter {param.name} is {param.dtype}")
    if value is None:
        value = 0
    try:
        return (int(value) & ((1 << 8 * param.size) - 1)).to_bytes(param.size, "little")
    except (TypeError, ValueError):
        raise LaunchError(
            f"argument {position}: cannot pass {type(value).__name__} for parameter {param.name} ({param.dtype}); "
            "pass a NumPy array, a number or bytes"
        ) from None


def _fill(entry, memory, values):
    """The parameter bytes of a launch."""
    program = entry.program
    data = bytearray(program.param_size)
    pointers = {}
    for (position, _), (wrapped, placed) in zip(memory.positions, memory.bindings, strict=True):
        pointers[position] = placed.address + wrapped.offset
    for position, param in enumerate(entry.params):
        at = program.param_offsets[param.name]
        if isinstance(values.get(position), TensorMap):
            data[at : at + NBYTES] = values[position].encode(pointers["map", position])
        elif position in pointers:
            data[at : at + 8] = pointers[position].to_bytes(8, "little")
            if ("map", position) in values:
                map_ = np.frombuffer(values["map", position].encode(pointers["map", position]), np.uint8)
                memory.arena[pointers[position] - memory.global_base :][:NBYTES] = map_
        else:
            data[at : at + param.size] = _scalar_bytes(values[position], param, position)
    return data


def _slots(entry, total, threads, shared, profile, cluster):
    """(slots, capacity in lanes): how many CTAs run together."""
    stride = round_up(threads, 32)
    if entry.spins:
        slots = min(total, profile.resident_ctas(threads, shared), max(MAX_LANES // stride, 1))
    else:
        slots = min(total, max(BATCH_LANES // stride, 1))
    size = cluster[0] * cluster[1] * cluster[2]
    slots = max(slots // size, 1) * size
    capacity = BATCH_LANES
    while capacity < slots * stride:
        capacity *= 2
    return slots, capacity


def launch(
    entry,
    grid,
    block,
    args,
    shared=0,
    *,
    cluster=None,
    check=True,
    count=True,
    schedule="late",
    profile=H200,
    trace=None,
    events=None,
    max_steps=None,
    progress=None,
):
    """Run a kernel on the CPU and return a Report.

    ``grid``, ``block``: int or up to three ints. ``args``: one per PTX parameter: NumPy array or :class:`Array`
    (written back in place),
    scalar, or bytes for a struct. ``shared``: dynamic shared memory in bytes. ``schedule``: "late", "early" or an int
    seed.
    ``events``: an :class:`Events`, whose log the launch fills. ``progress(n)`` is called as CTAs end. Raises
    LaunchError for a launch that a GPU would refuse.
    """
    if schedule not in ("late", "early") and not isinstance(schedule, (int, np.integer)):
        raise LaunchError(f"schedule {schedule!r}: use 'late', 'early' or an integer seed")
    if trace is not None and not isinstance(trace, Trace):
        raise LaunchError(f"trace {trace!r}: pass a ptxemu.Trace")
    grid, block = _triple(grid, "grid"), _triple(block, "block")
    cluster = _check_cluster(entry, cluster, grid, profile)
    _check_target(entry, profile)
    _check_fit(entry, grid, block, shared, profile)
    arrays, values = _bind(entry, args)
    memory = Memory(
        entry.module.placed, entry.module.image, entry.module.param_address, bytes(entry.program.param_size), arrays
    )
    memory.positions = arrays
    memory.write_params(_fill(entry, memory, values))
    total = grid[0] * grid[1] * grid[2]
    threads = block[0] * block[1] * block[2]
    shared_bytes = entry.program.dynamic_offset + shared if shared else entry.static_shared
    slots, capacity = _slots(entry, total, threads, shared_bytes, profile, cluster)
    observer = None
    if check or count or trace is not None:
        observer = Observer(
            entry,
            grid,
            block,
            memory,
            profile,
            check=check,
            count=count,
            trace=trace,
            shared_bytes=shared_bytes,
            slots=slots,
            clustered=cluster != (1, 1, 1),
        )
        if check:
            for reg, site in entry.program.never_defined:
                observer.finding("uninitialised-register", site, detail=f"register {reg.name}")
    unit = entry.unit(capacity, observer is not None)
    machine = Machine(
        entry.program,
        unit,
        memory,
        grid,
        block,
        shared_bytes,
        slots,
        observer,
        int(schedule) if isinstance(schedule, (int, np.integer)) else schedule,
        max_steps,
        total,
        entry.spins,
        progress,
        profile,
        cluster,
    )
    if events is not None:
        events.attach(machine)
    completed, seconds = timed(machine)
    if events is not None:
        events.detach()
    steps = machine.steps
    machine.release()
    memory.write_back(entry.module.image)
    findings, counters, accesses = observer.finish() if observer is not None else ([], None, [])
    return Report(findings=findings, counters=counters, trace=accesses, steps=steps, cpu_s=seconds, completed=completed)
