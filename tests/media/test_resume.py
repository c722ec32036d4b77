"""Files of a job: whatever ends the process, no half file, no record without its files, none twice."""

import hashlib
import json
import resource
import signal
import sys
from collections import Counter
from pathlib import Path

import gevent
import pytest
from gevent import subprocess

from crawler import Spider, crawl
from crawler.job.directory import Job
from crawler.media import FilesPipeline
from crawler.testing import Wire, faults

from .conftest import FAST, binary, names_in

PAGES, SHARED, BIG = 8, "/file/shared", "/file/big"
IN_FLIGHT = 4
CHILD = """
import sys
from gevent import monkey
monkey.patch_all()
from pathlib import Path
from crawler import Request, Spider, crawl
from crawler.job.directory import Job
from crawler.media import FilesPipeline

home, start = Path(sys.argv[1]), sys.argv[2]


class Gallery(Spider):
    start_urls = [start]
    pipelines = [FilesPipeline(home / "files")]

    def parse(self, page):
        yield {"page": page.url, "file_urls": [page.urljoin(href) for href in page.css("img::attr(src)").getall()]}
        yield from page.links()
        if page.url == start:
            big = page.urljoin("/file/big")
            yield Request(big, callback=self.saved, save_to=home / "big")

    def saved(self, page):
        yield {"page": page.url, "sha256": page.saved.sha256}


with Job(home / "job") as job:
    job.open_feed(str(home / "items.jsonl"))
    crawl(Gallery(), job=job, depth=None, delay=0, per_host=4, robots=False, allow_private=True)
"""


def content_of(path):
    return f"the content of {path} ".encode() * 2000


def slow(path):
    """Send the file in two pieces, so that most kills come between them."""
    content = content_of(path)
    return Wire(
        faults.head(f"content-length: {len(content)}"), content[:20_000], 0.02, content[20_000:]
    )


@pytest.fixture
def site(serve):
    links = "".join(f'<a href="/{n}">{n}</a>' for n in range(PAGES))
    pages = {"/": links}
    for n in range(PAGES):
        pages[f"/{n}"] = f'<img src="/file/{n}/a"><img src="{SHARED}"><img src="/file/{n}/b">'
        pages |= {path: slow(path) for path in (f"/file/{n}/a", f"/file/{n}/b")}
    return serve(pages | {path: slow(path) for path in (SHARED, BIG)})


def asked_for(site):
    return [hit.path for hit in site.requests if hit.path.startswith("/file/")]


@pytest.fixture
def start(site, tmp_path):
    """Start the crawl in a process of its own, which ends with the test at the latest."""
    children = []

    def start():
        command = [sys.executable, "-c", CHILD, str(tmp_path), site.url()]
        children.append(subprocess.Popen(command))
        return children[-1]

    yield start
    for child in children:
        child.kill()
        child.wait()


def check_files(home):
    """Every file is whole, and nothing else is there."""
    for name in names_in(home / "files"):
        content = (home / "files" / name).read_bytes()
        assert name == hashlib.sha256(content).hexdigest() + ".html"
    assert {*names_in(home)} <= {"big", "files", "items.jsonl", "job"}
    if (home / "big").exists():
        assert (home / "big").read_bytes() == content_of(BIG)


def test_kills_leave_no_half_file_and_cost_only_what_was_in_flight(site, start, tmp_path):
    kills = 0
    for number in (1, 6):
        child = start()
        while len(asked_for(site)) < number + kills * IN_FLIGHT and child.poll() is None:
            gevent.sleep(0.005)
        child.send_signal(signal.SIGKILL)
        kills += child.wait() == -signal.SIGKILL
        check_files(tmp_path)
    assert start().wait() == 0

    assert kills >= 2
    check_files(tmp_path)
    records = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert sorted(record["page"] for record in records) == sorted(
        [site.url("/"), site.url(BIG), *(site.url(f"/{n}") for n in range(PAGES))]
    )
    for record in records:
        for file in record.get("files", ()):
            path = file["url"].removeprefix(site.url(""))
            assert file["sha256"] == hashlib.sha256(content_of(path)).hexdigest()
            assert Path(file["path"]).stat().st_size == file["size"]
    fetched = Counter(asked_for(site))
    assert len(fetched) == 2 * PAGES + 2
    assert sum(fetched.values()) <= len(fetched) + kills * IN_FLIGHT


class OnePage(Spider):
    def parse(self, page):
        yield {"file_urls": [page.urljoin("/a"), page.urljoin("/b")]}


def crawled(home, site, **settings):
    spider = OnePage(start_urls=[site.url()])
    spider.pipelines = [FilesPipeline(home / "files")]
    with Job(home / "job") as job:
        job.open_feed(str(home / "items.jsonl"))
        result = crawl(spider, job=job, **FAST | settings)
    text = (home / "items.jsonl").read_text()
    return result, [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def two_files(serve):
    return serve({"/": "home", "/a": binary(b"a" * 5000), "/b": binary(b"b" * 300_000)})


def test_a_full_disk_stops_the_crawl_and_the_next_one_has_all_files(two_files, tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (250_000, hard))
    try:
        result, records = crawled(tmp_path, two_files)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (result.reason, result.exit_code, records) == ("disk", 3, [])
    assert "cannot save to" in str(result.errors[-1])

    result, [record] = crawled(tmp_path, two_files)

    assert result.reason == "finished"
    assert [file["size"] for file in record["files"]] == [5000, 300_000]
    assert Counter(hit.path for hit in two_files.requests)["/a"] == 1


def test_a_limit_of_the_crawl_lets_the_next_one_have_all_files(two_files, tmp_path):
    result, records = crawled(tmp_path, two_files, max_pages=2, robots=False)
    assert (result.reason, records) == ("page_limit", [])

    _, [record] = crawled(tmp_path, two_files, robots=False)

    assert [file["status"] for file in record["files"]] == ["downloaded"] * 2


def test_a_file_that_was_removed_is_fetched_again_and_a_failed_one_too(serve, tmp_path):
    site = serve({"/": "home", "/a": binary(b"a")})
    _, [first] = crawled(tmp_path, site)
    assert [file["status"] for file in first["files"]] == ["downloaded", "failed"]

    Job.clear(tmp_path / "job")
    assert names_in(tmp_path / "job") == ["lock"]
    site.pages = site.pages | {"/b": binary(b"b")}
    _, records = crawled(tmp_path, site)

    assert [file["status"] for file in records[-1]["files"]] == ["downloaded"] * 2
