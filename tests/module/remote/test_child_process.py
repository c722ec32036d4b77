import os
import signal
import sys
from pathlib import Path

import gevent
import pytest

from crawler.errors import TimeLimit
from crawler.module.remote.child_process import ChildProcess
from crawler.module.remote.frames import pack
from crawler.module.remote.transport import Disconnected


@pytest.fixture(autouse=True)
def deadline():
    with gevent.Timeout(120):
        yield


def open_descriptors():
    return sorted(link.name for link in Path("/proc/self/fd").iterdir() if link.is_symlink())


def test_a_child_that_ends_is_reported_with_its_exit_status():
    child = ChildProcess([sys.executable, "-c", "import os; os.read(3, 1); os._exit(7)"])

    with pytest.raises(Disconnected, match="exit status 7") as ended, child.call({}, b"x"):
        child.receive()

    assert ended.value.at_work
    assert child.dead


def test_only_the_call_that_the_child_works_on_is_reported_as_at_work():
    child = ChildProcess([sys.executable, "-c", "import time; time.sleep(100)"])
    reports = []

    def call():
        try:
            with child.call({"body": "x"}, b""):
                child.receive()
        except Disconnected as ended:
            reports.append(ended.at_work)

    calls = [gevent.spawn(call) for _ in range(3)]
    gevent.idle()
    os.kill(child.pid, signal.SIGKILL)
    gevent.joinall(calls)

    assert sorted(reports) == [False, False, True]


def test_a_time_limit_counts_from_when_the_child_began_with_the_call():
    answer = pack({"end": True})
    work = (
        f"import os, time; os.read(3, 1); time.sleep(0.3); os.write(3, {answer!r}); os.read(3, 1)"
    )
    child = ChildProcess([sys.executable, "-c", work])

    with child.call({}, b""), gevent.Timeout(0.05, TimeLimit(30)):
        assert child.receive() == ({"end": True}, b"")

    assert not child.dead
    child.close(1)


def test_a_missing_program_raises_an_error_and_leaves_no_descriptor_open():
    before = open_descriptors()

    with pytest.raises(FileNotFoundError):
        ChildProcess(["/no/such/program"])

    gevent.sleep(0.01)  # gevent closes sockets a little later
    assert open_descriptors() == before
