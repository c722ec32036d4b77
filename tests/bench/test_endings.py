"""A benchmark that is stopped by a signal leaves no process and no folder behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crawler.bench.measuring.child import Child

DEADLINE = 120
LINUX = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


def stat(pid):
    """State and parent of a process; a zombie has ended."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "gone", 0
    return words[0], int(words[1])


def children(pid):
    found = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
    return [one for one in found if stat(one)[1] == pid]


def until(what):
    end = time.monotonic() + DEADLINE
    while time.monotonic() < end:
        if found := what():
            return found
        time.sleep(0.02)
    raise AssertionError("it never came to that")


@pytest.fixture
def bench(tmp_path):
    """Start a command; its folders are made in *tmp_path*/made."""
    (tmp_path / "made").mkdir()
    places = {"XDG_DATA_HOME": str(tmp_path), "TMPDIR": str(tmp_path / "made")}
    started = []

    def start(*words):
        process = subprocess.Popen(
            [sys.executable, "-m", "crawler", "bench", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | places,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate(timeout=DEADLINE)


@LINUX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize(
    ("command", "processes", "at_work"),
    [("crawl --pages 100", 2, "crawler-bench-*"), ("kill", 1, "killed-*/first/*")],
)
def test_child_processes_end_with_the_benchmark(
    bench, tmp_path, command, processes, at_work, number
):
    process = bench(*command.split())
    begun = until(lambda: (found := children(process.pid))[processes - 1 :] and found)
    made = tmp_path / "made"
    until(lambda: list(made.glob(at_work)))

    os.killpg(process.pid, number)  # as a terminal does
    _, complaints = process.communicate(timeout=DEADLINE)

    until(lambda: all(stat(one)[0] in ("Z", "gone") for one in begun))
    assert b"Traceback" not in complaints
    if number != signal.SIGKILL:
        assert list(made.iterdir()) == []
        assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[number]


def test_a_child_whose_output_is_closed_ends_silently():
    reading, writing = os.pipe()
    os.close(reading)
    child = Child("builtins:dict", patched=False)

    ended = subprocess.run(child.command, stdout=writing, stderr=subprocess.PIPE, timeout=DEADLINE)
    os.close(writing)

    assert (ended.returncode, ended.stderr) == (1, b"")
