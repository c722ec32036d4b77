"""`crawler portal` in a process of its own."""

import os
import re
import signal
import subprocess

import gevent

from ..conftest import CRAWLER, crawler


def test_it_prints_a_one_time_link_and_ends_at_ctrl_c(tmp_path):
    process = subprocess.Popen(
        [*CRAWLER, "portal", "--port", "0"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    with gevent.Timeout(120):
        lines = [process.stderr.readline() for _ in range(2)]

    assert re.match(r"portal: http://127\.0\.0\.1:\d+/$", lines[0])
    assert re.search(r"15 minutes: http://127\.0\.0\.1:\d+/setup/[\w-]{43}$", lines[1])
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(timeout=120) == 0


def test_a_port_in_use_is_a_usage_error(held, tmp_path):
    done = crawler("portal", "--port", str(held.port), cwd=tmp_path)

    assert done.returncode == 2
    assert f"cannot use port {held.port}" in done.stderr
