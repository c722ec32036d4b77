"""Spiders, a site and programs whose pages are analysed in child processes."""

import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import gevent
import pytest

from crawler import Request, Spider
from crawler.module import Analyzer
from crawler.testing import LoopbackSite, generated_site

FREE = {
    "allow_private": True,
    "delay": 0,
    "robots": False,
    "per_host": 100,
    "retries": 1,
    "politeness.latency_factor": 0,
    "depth": None,
}
#: Pages of the site, and items of each page of Deadly: more than are sent in one message.
PAGES, MANY = 30, 150


@pytest.fixture(autouse=True)
def deadline():
    with gevent.Timeout(120):
        yield


@pytest.fixture
def site():
    pages = generated_site(pages=PAGES, links=4, size=2000)
    with LoopbackSite(pages) as site:
        yield site


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def children():
    """Return the processes that this one has started; other tests may have left some."""
    pids = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return {int(pid) for pid in pids}


@pytest.fixture
def no_process_left():
    before = children()
    yield
    assert children() <= before


def eventually(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not become true"
        gevent.sleep(0.02)


def pids_of(result):
    return [module.summary().extra["pid"] for module in result.scheduler.registrar.all(Analyzer)]


class Deadly(Spider):
    """Ends its process on one page: each time, or only the first time."""

    deadly = "/page/7"
    mark = ""

    def parse(self, page):
        for n in range(MANY):
            yield {"url": page.url, "n": n}
        if page.url.endswith(self.deadly) and not (self.mark and Path(self.mark).exists()):
            if self.mark:
                Path(self.mark).touch()
            os._exit(3)
        yield from page.links()
        yield {"url": page.url, "n": "last"}


def counted(result):
    return Counter((item["url"], item["n"]) for item in result.items)


class Ids(Spider):
    def parse(self, page):
        yield {"id": page.request.id}
        for url in page.links():
            yield Request(url)


PROGRAM = """
import os, sys, time
from crawler import Spider, crawl

class Own(Spider):
    def parse(self, page):
        print("analysed by", os.getpid(), flush=True)
        yield {{"pid": os.getpid()}}
        {work}

def main():
    spider = Own(start_urls=[{url!r}])
    result = crawl(spider, analyzers=1, allow_private=True, delay=0, robots=False)
    print("items", len(result.items), result.items[0]["pid"] != os.getpid())

{guard}
    main()
"""
GUARD = 'if __name__ == "__main__":'


def program(site, work="pass", guard=GUARD):
    return PROGRAM.format(url=site.url(), work=work, guard=guard)


def run(*arguments, **options):
    """Run a program in another process while this one serves the site."""
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)
