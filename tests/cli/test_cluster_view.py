"""What a terminal shows of a whole job while it runs."""

import io
import os
import socket
import time

import gevent
import pytest
from rich.console import Console

from crawler.cli.cluster_view import ClusterView, figures
from crawler.cluster.job_record import control_job, create_job

from ..cluster.shard import shared_server

STATUS = {
    "status": "running",
    "seconds": 75.2,
    "urls": {"pending": 7, "done": 12, "failed": {"timeout": 2, "http_500": 1}},
    "schedulers": [{"in_flight": 3}, {"in_flight": 4}],
}


@pytest.fixture
def job():
    name = f"view-{os.getpid()}-{time.monotonic_ns()}"
    create_job(shared_server().url, name, {}, shards=2)
    return shared_server().url, name


def shown(url, name, wanted, *, is_terminal=True):
    """Return what is drawn until *wanted* is there."""
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=is_terminal, width=200)
    end = time.monotonic() + 100
    with ClusterView(url, name, console):
        while wanted not in screen.getvalue() and time.monotonic() < end:
            gevent.sleep(0.01)
    return screen.getvalue()


def test_one_line_has_the_figures_of_all_schedulers():
    assert figures(STATUS, 2.5) == (
        "2.5 pages/s  7 in flight  7 left  12 done  3 failed  2 schedulers  1:15"
    )


def test_a_job_that_does_not_run_says_so(job):
    control_job(*job, "pause")

    assert "the job is paused" in shown(*job, "0 done")


def test_a_server_that_is_away_is_waited_for_and_it_is_said_since_when():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        away = f"redis://127.0.0.1:{free.getsockname()[1]}"

    assert "waits for Redis since " in shown(away, "job", "waits for Redis since ")


def test_without_a_terminal_nothing_is_drawn(job):
    assert not shown(*job, "", is_terminal=False)
