"""A pytest plugin on top of nbval that closes its holes: ``pytest -p gemmlab.nbval_plugin --nbval-lax notebooks``.

nbval reads only what a cell prints, so a cell with an unknown magic passes, as does a cell that is tagged
``raises-exception`` and raises nothing; a checked cell that was never run is not compared; a dead kernel is noticed
after the time limit, which is 2,000 s. Here each of these fails, at once, with one line. Outputs on stderr and progress
bars are not compared.
"""

import json
import re
import time
from queue import Empty

import pytest
from nbval.plugin import IPyNbCell, IPyNbFile, NbCellError

from gemmlab.execution import CELL_TIMEOUT_S

NBVAL_TIMEOUT_S = 2000
POLL_S = 0.5
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
DIED = "the kernel died in this cell"
NOT_RUN = "not run: the kernel died in an earlier cell"


def pytest_addoption(parser):
    parser.getgroup("nbval").addoption(
        "--nbval-cell-log", default=None, help="append one JSON line per cell: notebook, cell, outcome, message")


def pytest_configure(config):
    if config.option.nbval_cell_timeout == NBVAL_TIMEOUT_S:
        config.option.nbval_cell_timeout = CELL_TIMEOUT_S
    if getattr(config.option, "dist", "no") not in ("no", "loadfile"):
        raise pytest.UsageError("the cells of a notebook share a kernel: run xdist with --dist loadfile")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Turn a file that is no notebook into one line, and a notebook without code cells into a failure."""
    report = yield
    if isinstance(collector, IPyNbFile):
        if report.failed:
            reason = str(report.longrepr).strip().splitlines()[-1]
            report.longrepr = f"{collector.path.name} is not a notebook that can be read: {reason[:200]}"
        elif report.passed and not report.result:
            report.outcome = "failed"
            report.longrepr = f"{collector.path.name} has no code cell: nothing would be checked"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    if isinstance(item, IPyNbCell):
        item.parent.skip_compare = (*item.parent.skip_compare, "stderr")
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    if not isinstance(item, IPyNbCell):
        return (yield)
    kernel = item.parent.kernel
    if not kernel.is_alive():
        raise NbCellError(item.cell_num, NOT_RUN, item.cell.source)
    if item.options["check"] and item.cell.execution_count is None:
        raise NbCellError(item.cell_num, "its output is to be checked, but the notebook was saved without running it",
                          item.cell.source)
    reply = {}
    kernel.await_reply = lambda msg_id, timeout=None: reply.update(await_reply(item, msg_id, timeout))
    result = yield
    raised = any(output.get("output_type") == "error" for output in item.test_outputs or ())
    if item.options["check_exception"] and not raised:
        raise NbCellError(item.cell_num, "the cell must raise an exception, and it raised none", item.cell.source)
    if reply.get("status") == "error" and not raised:
        raise NbCellError(item.cell_num, f"{reply.get('ename')}: {reply.get('evalue')}", item.cell.source)
    return result


def await_reply(item, msg_id: str, timeout: float) -> dict:
    """Wait for the kernel's reply to `msg_id`, but not for a kernel that is gone; return the reply's content."""
    kernel = item.parent.kernel
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        alive = kernel.is_alive()
        try:
            message = kernel.get_message("shell", timeout=POLL_S)
        except Empty:
            if not alive:
                raise NbCellError(item.cell_num, DIED, item.cell.source) from None
            continue
        if message["parent_header"].get("msg_id") == msg_id:
            return message["content"]
    raise Empty


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    log = item.config.option.nbval_cell_log
    if log and isinstance(item, IPyNbCell) and (call.when == "call" or report.failed):
        with open(log, "a", encoding="utf-8") as file:
            print(json.dumps({"notebook": item.path.name, "cell": item.cell_num, "outcome": report.outcome,
                              "message": reason(call.excinfo)}), file=file)
    return report


def reason(excinfo) -> str:
    """Return the one line that says why a cell failed: the last line of its traceback, or nbval's own message."""
    if excinfo is None:
        return ""
    message = str(excinfo.value)
    lines = (getattr(excinfo.value, "inner_traceback", None) or "").strip().splitlines()
    return COLOUR.sub("", lines[-1] if lines and "exception" in message else message)[:300]
