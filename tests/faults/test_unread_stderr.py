"""Nobody reads stderr, or the terminal is stopped: the crawl goes on."""

import os
import re
import subprocess
import sys
from contextlib import contextmanager

import gevent
import pytest
from gevent.event import Event

from crawler.testing import LoopbackSite

from ..cli.conftest import terminal

__all__ = ["terminal"]
PAGES = 300
SPIDER = """
import logging
from crawler import Spider

class Chatty(Spider):
    start_urls = [{url!r} + str(n) for n in range({pages})]

    def parse(self, page):
        logging.getLogger("chatty").warning("%s %s", page.url, "x" * 1000)
        yield {{"url": page.url}}
"""
RUN = ("run", "chatty.py", "-O", "out.jsonl", "--job", "job", "-s", "delay=0", "-s", "per_host=32")
RUN = (*RUN, "-s", "robots=false", "-s", "politeness.latency_factor=0")
STOP, CONTINUE = b"\x13", b"\x11"


@pytest.fixture
def site(tmp_path):
    with LoopbackSite({f"/{n}": "x" for n in range(PAGES)}) as site:
        (tmp_path / "chatty.py").write_text(SPIDER.format(url=site.url(), pages=PAGES))
        yield site


@contextmanager
def crawling(*options, cwd):
    """Start a crawl; yield its process, and the pipe that its stderr goes to."""
    reader, writer = os.pipe()
    command = [sys.executable, "-m", "crawler", *RUN, *options]
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=writer)
    os.close(writer)
    try:
        with gevent.Timeout(120), os.fdopen(reader, "rb") as pipe:
            yield process, pipe
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def logged(lines):
    return [line for line in lines if "WARNING chatty" in line]


@pytest.mark.parametrize("analyzers", ["0", "1"])
def test_a_pipe_that_nobody_reads_does_not_stop_the_crawl(site, tmp_path, analyzers):
    with crawling("--analyzers", analyzers, cwd=tmp_path) as (process, pipe):
        out, _ = process.communicate()
        shown = logged(pipe.read().decode().splitlines())

    assert process.returncode == 0
    assert b"pages         300 done" in out
    assert 0 < len(shown) < PAGES
    assert all(line.endswith("x" * 1000) for line in shown[:-1]), "whole lines"


def test_it_says_how_many_lines_were_dropped_when_somebody_reads_again(site, tmp_path):
    read_again = Event()
    site.pages["/299"] = lambda request: read_again.wait(120) and "x"

    with crawling(cwd=tmp_path) as (_, pipe):
        while len(site.requests) < PAGES:
            gevent.sleep(0.01)
        read_again.set()
        lines = gevent.get_hub().threadpool.apply(pipe.read).decode().splitlines()

    [dropped] = [line for line in lines if "dropped" in line]
    number = int(re.fullmatch(r"crawler: (\d+) lines were dropped here, .*", dropped)[1])
    assert number > 100
    assert PAGES <= len(logged(lines)) + number <= PAGES + 20  # some are lines of the view


def test_a_stopped_terminal_does_not_stop_the_crawl(site, terminal):
    screen = terminal(*RUN)
    screen.read_until("WARNING chatty")

    screen.press(STOP)
    with gevent.Timeout(120):
        while len(site.requests) < PAGES:
            gevent.sleep(0.01)
    screen.press(CONTINUE)

    assert screen.wait() == 0
    assert "300 done" in screen.text
