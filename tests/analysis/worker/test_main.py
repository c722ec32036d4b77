import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from crawler import Spider, crawl, stream
from crawler.module import Analyzer, ChildError

from ..conftest import (
    FREE,
    MANY,
    PAGES,
    Deadly,
    counted,
    eventually,
    is_alive,
    pids_of,
    program,
)


def test_a_worker_ignores_ctrl_c(site):
    crawling = stream(Deadly(start_urls=[site.url()], deadly="/none"), analyzers=2, **FREE)
    for number, item in enumerate(crawling):
        crawling.items.append(item)
        if number % 1000 == 0:
            for pid in pids_of(crawling):
                os.kill(pid, signal.SIGINT)
    crawling.wait()

    assert crawling.errors == []
    assert len(counted(crawling)) == PAGES * (MANY + 1)
    assert [m.restarts for m in crawling.scheduler.registrar.all(Analyzer)] == [0, 0]


class Notes(Spider):
    """Creates a file in each process that opens and closes it."""

    directory = ""

    def open(self):
        (Path(self.directory) / f"open-{os.getpid()}").touch()
        self.opened = os.getpid()

    def parse(self, page):
        yield {"pid": self.opened}
        yield from page.links()

    def close(self):
        (Path(self.directory) / f"close-{self.opened}").touch()


def test_a_spider_is_opened_and_closed_in_each_process(site, tmp_path):
    result = crawl(Notes(start_urls=[site.url()], directory=str(tmp_path)), analyzers=2, **FREE)

    at_work = {item["pid"] for item in result.items}
    assert os.getpid() not in at_work
    assert len(at_work) == 2
    notes = {path.name for path in tmp_path.iterdir()}
    processes = {*at_work, os.getpid()}
    assert notes == {f"{what}-{pid}" for what in ("open", "close") for pid in processes}


class Picky(Spider):
    home = 0

    def open(self):
        if os.getpid() != self.home:
            raise RuntimeError("not in this process")


def test_a_crawl_does_not_start_if_a_worker_cannot(site, no_process_left):
    with pytest.raises(ChildError, match="RuntimeError: not in this process"):
        crawl(Picky(start_urls=[site.url()], home=os.getpid()), analyzers=2, **FREE)

    assert site.requests == []


@pytest.mark.parametrize("work", ["time.sleep(100)", "\n        while True: pass"])
def test_no_worker_outlives_a_killed_parent(site, tmp_path, work):
    path = tmp_path / "own.py"
    path.write_text(program(site, work=work))
    parent = subprocess.Popen([sys.executable, path], stdout=subprocess.PIPE, text=True)
    with parent:
        pid = int(parent.stdout.readline().split()[-1])
        assert is_alive(pid)
        parent.kill()

    eventually(lambda: not is_alive(pid))
