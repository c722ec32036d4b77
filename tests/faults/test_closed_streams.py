"""Programs whose standard input, output or error is closed: no file gets its number."""

import json
import subprocess
import sys

import pytest

from crawler.testing import LoopbackSite

from ..cli.conftest import crawler

PAGES = {"/": '<title>t</title><a href="/a">a</a>', "/a": "<title>a</title>"}
SPIDER = """
import os
from contextlib import suppress
from crawler import Spider

class Talking(Spider):
    start_urls = [{url!r}]
    max_depth = 1

    def parse(self, page):
        print("printed by a callback", flush=True)
        for number in (1, 2):
            with suppress(OSError):
                os.write(number, b"printed by a library\\n")
        yield {{"url": page.url}}
        yield from page.links()
"""
LIBRARY = """
import os
from spider import Talking
from crawler import crawl

if __name__ == "__main__":
    result = crawl(Talking(), analyzers=1, allow_private=True, delay=0, robots=False, job="job")
    os._exit(0 if len(result.items) == 2 else 9)
"""
CRAWLER = ("-m", "crawler")
QUICK = ("-s", "delay=0", "-s", "robots=false", "--job", "job")


@pytest.fixture
def site(tmp_path):
    with LoopbackSite(PAGES) as site:
        (tmp_path / "spider.py").write_text(SPIDER.format(url=site.url()))
        (tmp_path / "library.py").write_text(LIBRARY)
        yield site


def run_with_closed(*closed, args, cwd):
    """Run Python with the descriptors *closed*; return the exit code and stderr."""
    redirections = " ".join(f"{number}>&-" for number in closed)
    done = subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {redirections}', "sh", sys.executable, *args],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.returncode, done.stderr


def check_lock(job):
    """The lock names its process, and nothing else was written there."""
    lock = (job / "lock").read_text()
    assert lock.startswith("process ")
    assert lock.count("\n") == 1


@pytest.mark.parametrize(
    ("closed", "analyzers"),
    [
        *(((0,), "0"), ((1,), "0"), ((2,), "0"), ((0, 1, 2), "1")),
        *(((0, 1), "0"), ((0, 2), "0"), ((1, 2), "0")),
    ],
)
def test_a_crawl_does_not_write_into_its_own_files(site, tmp_path, closed, analyzers):
    command = ("run", "spider.py", *QUICK, "--analyzers", analyzers, "-O", "out.jsonl")

    code, err = run_with_closed(*closed, args=(*CRAWLER, *command), cwd=tmp_path)

    assert code == 0, err
    records = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert sorted(record["url"] for record in records) == [site.url(), site.url("/a")]
    check_lock(tmp_path / "job")
    marker = (tmp_path / "job" / "state.marker").read_bytes()
    assert b"printed" not in marker
    again = crawler(*command, cwd=tmp_path)
    assert (again.returncode, "damaged" in again.stderr) == (0, False), again.stderr


@pytest.mark.parametrize("closed", [(1,), (0, 1)], ids=str)
def test_records_for_a_closed_stdout_are_refused_not_lost(site, tmp_path, closed):
    code, err = run_with_closed(*closed, args=(*CRAWLER, "run", "spider.py", *QUICK), cwd=tmp_path)

    assert code == 2
    assert err.startswith("crawler: standard output is closed: name a file for the records")
    assert not site.requests
    assert not (tmp_path / "job").exists()


def test_the_processes_of_a_program_without_output_have_one(site, tmp_path):
    code, err = run_with_closed(1, 2, args=("library.py",), cwd=tmp_path)

    assert code == 0, err
    check_lock(tmp_path / "job")
