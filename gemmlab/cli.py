"""The command line: doctor, list, check, count, verdict, pick, measure, stale, grade.

Each has --json; bad input is one line and exit code 2.
"""

from __future__ import annotations

import argparse
import json
import sys

import kernels
from gemmlab.errors import CheckError, GemmlabError

BAD_INPUT, WRONG = 2, 1  # exit codes


class Parser(argparse.ArgumentParser):
    """Reports a wrong command line as one line."""

    def error(self, message):
        self.exit(BAD_INPUT, f"{self.prog}: {message} (see {self.prog} --help)\n")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line (grade parses its own arguments)."""
    top = Parser(prog="gemmlab", description="Compile, check, count and measure GEMM kernels.")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name, text):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("--json", action="store_true", help="print JSON")
        return command

    add("doctor", "what this machine can run natively, what it emulates, what is missing")
    add("list", "the ladder: every kernel, in order")
    check = add("check", "is a kernel right? values, memory and races, on shapes that break wrong kernels")
    check.add_argument("kernel")
    check.add_argument("--shape", action="append", metavar="M,N,K", help="instead of the default shapes; repeatable")
    check.add_argument("--backend", choices=("gpu", "emulator"), help="default: the GPU if it can run the kernel")
    count = add("count", "counters of a kernel by source line")
    count.add_argument("kernel")
    count.add_argument("--shape", default="128,128,128", metavar="M,N,K", help="default: %(default)s")
    verdict = add("verdict", "registers, spills, occupancy, warnings, machine instructions; 1 if the assembler warns")
    verdict.add_argument("kernels", nargs="+", metavar="kernel")
    pick = add("pick", "which kernel for this shape, by a small model of the time")
    pick.add_argument("sizes", nargs=3, type=int, metavar="SIZE", help="M, N and K")
    pick.add_argument("--dtype", default="bfloat16", help="bfloat16 (default) or float16")
    pick.add_argument("--autotune", action="store_true", help="measure all candidates on the GPU instead")
    measure = add("measure", "time of a kernel beside cuBLAS; without a GPU the recorded one")
    measure.add_argument("kernels", nargs="+", metavar="kernel")
    measure.add_argument("--shape", action="append", metavar="M,N,K", help="default: 4096,4096,4096; repeatable")
    measure.add_argument("--record", action="store_true", help="store the result in results/")
    stale = add("stale", "kernels whose source changed after they were measured")
    stale.add_argument("--drop", action="store_true", help="remove their records from results/")
    grade = commands.add_parser("grade", add_help=False, help="grade a folder of student notebooks")
    grade.add_argument("rest", nargs=argparse.REMAINDER)
    return top


def main(argv: list[str] | None = None) -> int:
    """Run one command; return its exit code: 0, 1 for a kernel that is wrong, 2 for bad input."""
    argv = sys.argv[1:] if argv is None else argv
    try:
        if argv[:1] == ["grade"]:
            return _grade(argv[1:])
        options = parser().parse_args(argv)
        return _COMMANDS[options.command](options)
    except GemmlabError as error:
        print(f"gemmlab: {error}", file=sys.stderr)
        return BAD_INPUT
    except CheckError as error:
        print(f"gemmlab: {error}", file=sys.stderr)
        return WRONG
    except BrokenPipeError:
        return 0
    except (KeyboardInterrupt, MemoryError, OSError) as error:
        print(f"gemmlab: {_reason(error)}", file=sys.stderr)
        return BAD_INPUT


def _reason(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "this does not fit into memory: give smaller sizes"
    if isinstance(error, OSError):
        return f"{error.filename or 'the system'}: {error.strerror or error}"
    return "interrupted"


def shape(text: str) -> tuple[int, int, int]:
    """Read "M,N,K". Raises GemmlabError."""
    try:
        M, N, K = (int(part) for part in text.split(","))
    except ValueError:
        raise GemmlabError(f"--shape {text}: give three integers such as 33,17,40") from None
    if min(M, N, K) < 1:
        raise GemmlabError(f"--shape {text}: every size must be at least 1")
    return M, N, K


def _show(options, text: str, data) -> None:
    print(json.dumps(data, ensure_ascii=False) if options.json else text)


def _doctor(options) -> int:
    from gemmlab.doctor import diagnose

    diagnosis = diagnose()
    _show(options, str(diagnosis), diagnosis.to_dict())
    return 0


def _list(options) -> int:
    rows = [(s.name, s.chapter, s.language, s.target, s.title) for s in kernels.LADDER]
    heads = ("kernel", "chapter", "language", "needs", "title")
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in [heads, *rows]]
    _show(options, "\n".join(lines), [dict(zip(heads, row, strict=True)) for row in rows])
    return 0


def _check(options) -> int:
    from gemmlab.check import check

    shapes = [shape(text) for text in options.shape] if options.shape else None
    try:
        result = check(options.kernel, shapes=shapes, backend=options.backend, quiet=True)
    except CheckError as error:
        if not options.json:
            raise
        print(json.dumps({"kernel": options.kernel, "right": False, "message": str(error)}, ensure_ascii=False))
        return WRONG
    data = {"kernel": result.kernel, "right": True, "backend": result.backend, "shapes": result.shapes}
    _show(options, str(result), data | {"remarks": [*result.remarks, *result.warnings]})
    return 0


def _count(options) -> int:
    from gemmlab.count import count

    counts = count(options.kernel, *shape(options.shape))
    _show(options, str(counts), counts.to_dict())
    return 0


def _verdict(options) -> int:
    from gemmlab.verdict import verdict

    found = [verdict(name) for name in options.kernels]
    _show(options, "\n\n".join(map(str, found)), [one.to_dict() for one in found])
    return WRONG if any(one.faults for one in found) else 0


def _pick(options) -> int:
    from gemmlab.pick import autotune, best_kernel

    found = (autotune if options.autotune else best_kernel)(*options.sizes, options.dtype)
    names = ("kernel", "time_us", "why")
    rows = [dict(zip(names, entry, strict=True)) for entry in found.reasons.candidates]
    _show(options, str(found.reasons), {"kernel": found.spec.name, "candidates": rows})
    return 0


def _measure(options) -> int:
    from gemmlab import results
    from gemmlab.gpu import require_gpu
    from gemmlab.measuring import telemetry
    from gemmlab.measuring.measure import measure

    shapes = [shape(text) for text in options.shape or ["4096,4096,4096"]]
    if options.record:
        require_gpu()
    found = [measure(name, *sizes) for name in options.kernels for sizes in shapes]
    if options.record:
        for one in (x for x in found if not x.recorded):
            machine = telemetry.machine(telemetry.Telemetry(), one.record["cublas"])
            results.merge(results.path_of(machine["gpu"]), machine, [one.record])
    data = [{"kernel": x.kernel, "M": x.M, "N": x.N, "K": x.K, "label": x.label, "record": x.record} for x in found]
    _show(options, "\n".join(map(str, found)), data)
    shown = ", ".join(sorted({x.kernel for x in found if x.recorded})) if options.record else ""
    if shown:
        raise GemmlabError(f"{shown}: not measured, so not recorded: this GPU cannot run it, or GEMMLAB_STATIC is set")
    return 0


def _stale(options) -> int:
    from gemmlab import results

    found = (results.drop_stale if options.drop else results.stale)(kernels.LADDER)
    if not any(results.DIRECTORY.glob("*.json")):
        raise GemmlabError(f"{results.DIRECTORY} holds no records: restore it from version control")
    gone = "; removed" if options.drop else ""
    lines = ["{kernel} {M},{N},{K} on {gpu}, {date}: {reason}".format(**entry) + gone for entry in found]
    _show(options, "\n".join(lines) or "every record belongs to its kernel's present source", found)
    return 0


def _grade(argv: list[str]) -> int:
    try:
        from gemmlab.grading.grade import main as grade
    except ModuleNotFoundError as error:
        raise GemmlabError(f"grading needs {error.name}: pip install -r requirements.txt") from None
    return grade(argv) or 0


_COMMANDS = {
    "doctor": _doctor,
    "list": _list,
    "check": _check,
    "count": _count,
    "verdict": _verdict,
    "pick": _pick,
    "measure": _measure,
    "stale": _stale,
}
