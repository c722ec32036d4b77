"""Pipes without a reader, clocks that jump, and forked children."""

import os
import subprocess
import sys
import textwrap
import time
from itertools import pairwise

import gevent
import pytest

from crawler import Spider, crawl
from crawler.testing import Site

from .conftest import FAST

PROGRAM = """
from gevent import monkey; monkey.patch_all()
import logging, os, sys, time
import gevent
from crawler import Spider, crawl, stream
from crawler.feed import Stdout
from crawler.testing import Site
FAST = {"robots": False, "delay": 0, "per_host": 32, "retries": 1, "politeness.jitter": 0,
        "politeness.latency_factor": 0}
PAGES = 200
site = Site({f"/{n}": "x" for n in range(PAGES)})

class All(Spider):
    start_urls = [f"http://site.test/{n}" for n in range(PAGES)]

    def parse(self, page):
        logging.getLogger("user").warning("%s", page.url * 50)
        yield {"url": page.url, "text": "x" * 2000}

"""


def start(code):
    program = PROGRAM + textwrap.dedent(code)
    return subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def ended(process):
    """Read both pipes to their end."""
    out, err = process.communicate(timeout=120)
    assert b"Traceback" not in err, err[-2000:]
    assert process.returncode == 0
    return out, err


@pytest.mark.parametrize("sink", ["records on stdout", "log on stderr"])
def test_a_pipe_that_nobody_reads_holds_the_crawl_up_until_somebody_does(sink):
    feeds = "[Stdout()]" if sink == "records on stdout" else "[]"
    level = "ERROR" if sink == "records on stdout" else "WARNING"
    process = start(
        f"""
        logging.basicConfig(level="{level}")
        result = crawl(All(), fetch=site, feeds={feeds}, **FAST)
        print(f"done {{result.summary.urls.done}}", file=sys.stderr)
        """
    )
    gevent.sleep(2)
    assert process.poll() is None

    out, err = ended(process)

    assert err.splitlines()[-1] == b"done 200"
    assert out.count(b"\n") == (200 if feeds != "[]" else 0)


def test_a_blocked_stdout_can_be_stopped():
    """A write that waits for the reader can be cancelled, and does not block the process."""
    process = start(
        """
        result = stream(All(), fetch=site, feeds=[Stdout()], **FAST)
        gevent.sleep(1)
        result.stop(timeout=0.5)
        urls = result.summary.urls
        assert urls.admitted == urls.done + urls.pending == 200, urls
        assert urls.pending
        print("stopped", file=sys.stderr)
        os._exit(0)
        """
    )
    err = process.stderr.read()
    process.wait(120)
    process.stdout.close()
    process.stderr.close()

    assert err.splitlines()[-1] == b"stopped"


@pytest.mark.parametrize("jump", [86_400.0, -86_400.0])
def test_a_wall_clock_that_jumps_changes_nothing(serve, visit, monkeypatch, jump):
    """Delays, timeouts, limits and pauses are measured by a monotonic clock."""
    site = serve({f"/{n}": "x" for n in range(20)})
    real, jumped = time.time, []
    monkeypatch.setattr(time, "time", lambda: real() + jump * len(jumped))

    def parse(spider, page):
        jumped.append(page.url)
        gevent.sleep(0.01)
        yield {"url": page.url}

    began = time.monotonic()
    result = visit(
        parse,
        *(site.url(f"/{n}") for n in range(20)),
        delay=0.02,
        per_host=1,
        timeout=120,
        time_limit=20,
        max_seconds=120,
    )

    assert (result.summary.urls.done, result.reason) == (20, "finished")
    assert 0 <= result.summary.elapsed <= time.monotonic() - began
    ats = [hit.at for hit in site.requests]
    assert all(later - earlier >= 0.02 for earlier, later in pairwise(ats))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_child_forked_by_a_callback_leaves_the_crawl_alone():
    process = start(
        """
        def parse(self, page):
            if page.url.endswith("0"):
                pid = os.fork()
                if not pid:
                    os._exit(0)
                os.waitpid(pid, 0)
            yield {"url": page.url}

        All.parse = parse
        result = crawl(All(), fetch=site, **FAST)
        print(f"done {result.summary.urls.done} {len(result.items)}", file=sys.stderr)
        """
    )

    _, err = ended(process)

    assert err.splitlines()[-1] == b"done 200 200"


def test_a_child_process_does_work_for_a_callback():
    from gevent import subprocess as cooperative

    class Working(Spider):
        start_urls = [f"http://site.test/{n}" for n in range(3)]

        def parse(self, page):
            done = cooperative.run(["/bin/echo", page.url], capture_output=True, check=True)
            yield {"url": done.stdout.decode().strip()}

    result = crawl(Working(), fetch=Site({f"/{n}": "x" for n in range(3)}), **FAST)

    assert sorted(item["url"] for item in result.items) == Working.start_urls
