"""A spider runs on an archive; pages that are missing there are reported."""

import json

import pytest

from crawler.data import Response
from crawler.feed import WarcWriter
from crawler.testing import LoopbackSite

from ..conftest import crawler

SPIDER = """
from crawler import Spider

class Titles(Spider):
    start_urls = ["%s"]

    def parse(self, response):
        yield {"title": response.title}
        yield from response.links()
"""


@pytest.fixture
def home(tmp_path):
    """Archive two pages, and leave their site; return where everything is."""
    pages = {"/": '<title>Home</title><a href="/a">a</a>', "/a": "<title>A</title>"}
    with LoopbackSite(pages) as site:
        (tmp_path / "titles.py").write_text(SPIDER % site.url("/"))
        (tmp_path / "other.py").write_text(SPIDER % site.url("/other"))
        quick = ("-s", "delay=0", "-s", "robots=false")
        for name in ("a.warc", "a.warc.gz"):
            done = crawler("run", "titles.py", "--fresh", "--warc", name, *quick, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
    return tmp_path


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
def test_a_whole_archive_gives_the_items_and_nothing_else(home, name):
    done = crawler("replay", name, "titles.py", cwd=home)

    assert (done.returncode, done.stderr) == (0, "")
    titles = [json.loads(line)["title"] for line in done.stdout.splitlines()]
    assert sorted(titles) == ["A", "Home"]


def test_a_page_that_was_answered_after_a_retry_is_replayed(tmp_path):
    path = tmp_path / "a.warc.gz"
    with WarcWriter(path) as writer:
        for status, title in ((503, "Busy"), (503, "Busy"), (200, "Home")):
            body = f"<title>{title}</title>".encode()
            headers = {"content-type": "text/html", "retry-after": "3600"}
            writer(Response("http://site.test/", status, headers, body))
    (tmp_path / "titles.py").write_text(SPIDER % "http://site.test/")

    done = crawler("replay", "a.warc.gz", "titles.py", cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {"title": "Home"}


def test_a_page_that_is_not_in_the_archive_is_reported(home):
    done = crawler("replay", "a.warc.gz", "other.py", cwd=home)

    assert (done.returncode, done.stdout) == (1, "")
    assert "not_archived" in done.stderr
    assert "/other is not in a.warc.gz" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("name", ["a.warc", "a.warc.gz"])
def test_a_truncated_archive_is_not_replayed(home, name):
    whole = (home / name).read_bytes()
    (home / name).write_bytes(whole[:-20])

    done = crawler("replay", name, "titles.py", cwd=home)

    assert (done.returncode, done.stdout) == (6, "")
    assert done.stderr.startswith(f"crawler: {name} ends in the middle of a record, at byte ")
    assert done.stderr.count("\n") == 1


def test_an_empty_archive_is_not_replayed(home):
    (home / "empty.warc").write_bytes(b"")

    done = crawler("replay", "empty.warc", "titles.py", cwd=home)

    assert (done.returncode, done.stdout) == (6, "")
    assert done.stderr.startswith("crawler: empty.warc has no responses to replay")
    assert done.stderr.count("\n") == 1


def test_the_name_of_an_archive_says_how_it_is_written(home):
    done = crawler("run", "titles.py", "--job", "new", "--warc", "v.zip", cwd=home)

    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "'v.zip' is not the name of an archive: end it in .warc or .warc.gz" in done.stderr
    assert not (home / "v.zip").exists()
