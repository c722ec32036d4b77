"""Requests with save_to in a crawl: politeness, redirects, retries, limits, and what stays on the disk."""

import hashlib
from itertools import chain, repeat

import pytest

from crawler import Request, Spider, crawl
from crawler.testing import End, LoopbackSite, Reply, Wire, faults

from .conftest import FAST

QUICK = FAST | {"retries": 2}
FILE = b"the content " * 1000
DIGEST = hashlib.sha256(FILE).hexdigest()


class Downloads(Spider):
    """Saves each path of *paths*; the items are what came of them."""

    def start(self):
        for path in self.paths:
            yield Request(self.site.url(path), save_to=self.target, errback="failed")

    def parse(self, page):
        yield {"url": page.url, "body": page.body, "saved": page.saved}

    def failed(self, error):
        yield {"url": error.request.url, "kind": error.kind}


def download(site, target, *paths, **settings):
    spider = Downloads(site=site, target=str(target), paths=paths)
    return crawl(spider, **QUICK | settings)


def names_in(directory):
    return sorted(path.name for path in directory.iterdir()) if directory.exists() else []


def test_a_download_larger_than_any_page_may_be(tmp_path):
    size = 3_000_000
    big = Wire(faults.head(f"content-length: {size}"), repeat(bytes(100_000), 30))
    with LoopbackSite({"/": big}) as site:
        result = download(site, tmp_path / "file", "/", max_body=100_000)

    [item] = result.items
    assert (item["body"], item["saved"].size) == (b"", size)
    assert (tmp_path / "file").stat().st_size == size
    assert result.summary.bytes == size


def test_redirects_are_followed_to_the_file(tmp_path):
    pages = {
        "/": Reply(302, {"location": "/next"}, b"moved"),
        "/next": Reply(301, {"location": "/file"}),
        "/file": FILE,
    }
    with LoopbackSite(pages) as site:
        result = download(site, f"{tmp_path}/", "/")

    [item] = result.items
    assert item["url"].endswith("/file")
    assert item["saved"].sha256 == DIGEST
    assert names_in(tmp_path) == [f"{DIGEST}.html"]


def test_a_truncated_download_begins_again(tmp_path):
    replies = chain([faults.truncated(FILE[:500], 11_500)], repeat(FILE))
    with LoopbackSite({"/": lambda _: next(replies)}) as site:
        result = download(site, tmp_path / "file", "/")

    assert [item["saved"].sha256 for item in result.items] == [DIGEST]
    assert (tmp_path / "file").read_bytes() == FILE


@pytest.mark.parametrize(
    ("page", "kind"),
    [
        (faults.truncated(FILE), "truncated"),
        (Reply(404, {}, "gone"), "http_404"),
        (bytes(20_000), "too_large"),
        (faults.truncated_gzip(), "truncated"),
        (Wire(faults.head("content-length: 9"), b"x", End.HANG), "timeout"),
    ],
    ids=["truncated", "404", "too large", "gzip", "timeout"],
)
def test_what_cannot_be_saved_leaves_nothing_and_has_a_reason(tmp_path, page, kind):
    limits = {"max_file": 15_000, "file_timeout": 1, "retries": 1}
    with LoopbackSite({"/": page}) as site:
        result = download(site, tmp_path / "file", "/", **limits)

    assert [item["kind"] for item in result.items] == [kind]
    assert names_in(tmp_path) == []


def test_robots_txt_is_obeyed(tmp_path):
    with LoopbackSite({"/robots.txt": "User-agent: *\nDisallow: /no", "/no": FILE}) as site:
        result = download(site, tmp_path / "file", "/no", robots=True)

    assert result.summary.urls.refused == {"robots": 1}
    assert names_in(tmp_path) == []


def test_a_redirect_into_a_private_network_is_blocked(tmp_path):
    with LoopbackSite({"/": FILE}, addresses=["127.0.0.2"]) as private:
        pages = {"/": Reply(302, {"location": private.url("/")})}
        with LoopbackSite(pages) as site:
            result = download(
                site, tmp_path / "file", "/", allow_private=False, domains=["127.0.0.2"]
            )

    assert [item["kind"] for item in result.items] == ["blocked_address"]
    assert private.requests == []
    assert names_in(tmp_path) == []


def test_a_disk_that_is_full_is_named(tmp_path):
    (tmp_path / "file").touch()
    with LoopbackSite({"/": FILE}) as site:
        result = download(site, tmp_path / "file" / "deeper", "/")

    assert [item["kind"] for item in result.items] == ["disk"]
    assert "cannot save to" in str(result.errors[0])


def test_a_download_may_take_longer_than_a_callback(tmp_path):
    with LoopbackSite({"/": faults.drip(b"abc", every=0.3)}) as site:
        result = download(site, tmp_path / "file", "/", time_limit=0.3)

    assert [item["saved"].size for item in result.items] == [3]


def test_a_callback_that_waits_for_a_file_gets_its_place(tmp_path):
    class Waiting(Spider):
        def parse(self, page):
            saved = self.fetch(page.urljoin("/file"), save_to=tmp_path / "file").saved
            yield {"size": saved.size}

    with LoopbackSite({"/": "home", "/file": FILE}) as site:
        result = crawl(Waiting(start_urls=[site.url()]), **QUICK)

    assert result.items == [{"size": len(FILE)}]
