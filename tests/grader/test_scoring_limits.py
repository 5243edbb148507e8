"""The scorer's limit is processor time, and its machine code outlives a student."""

import signal
import sys
import time

import pytest

from gemmlab.grading import sandbox, scoring


@pytest.fixture(autouse=True)
def _no_timer_left():
    yield
    signal.setitimer(signal.ITIMER_PROF, 0)


def test_waiting_costs_nobody_points():
    scoring.with_time_limit(0.2)
    time.sleep(0.5)


def test_work_beyond_the_limit_is_stopped():
    with pytest.raises(scoring._TimeUp):
        scoring.with_time_limit(0.1)
        while True:
            pass


def test_a_command_writes_to_folders_that_it_is_given(tmp_path):
    work, cache = tmp_path / "work", tmp_path / "cache"
    work.mkdir()
    cache.mkdir()
    code = f"open({str(cache / 'kept')!r}, 'w').close()"
    ended = sandbox.run([sys.executable, "-c", code], work, seconds=20, memory_mb=2048, writable=(cache,))
    assert ended.returncode == 0, ended.tail
    assert (cache / "kept").is_file()
