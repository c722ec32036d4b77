"""Files that items name: fetched politely, once each, and always accounted for in the item."""

import hashlib
from dataclasses import dataclass, field
from itertools import chain, repeat

import pytest

from crawler import Spider, crawl
from crawler.items import Field, Item
from crawler.media import FilesPipeline
from crawler.testing import Reply, faults

from .conftest import FAST, binary, names_in

PICTURE, OTHER = b"picture", b"another"


def digest(content):
    return hashlib.sha256(content).hexdigest()


class Gallery(Spider):
    """Yields the *items* it is given; "{}" in a URL stands for the site."""

    def parse(self, page):
        for item in self.items:
            yield item(page) if callable(item) else item


def gather(site, directory, *items, pages=("/",), **settings):
    spider = Gallery(start_urls=[site.url(path) for path in pages], items=items)
    spider.pipelines = [FilesPipeline(directory)]
    return crawl(spider, **FAST | settings)


def files_of(result):
    return [item["files"] for item in result.items]


def test_an_item_gets_path_size_hash_and_status_of_its_files(serve, tmp_path):
    site = serve({"/": "home", "/a.png": binary(PICTURE), "/b": binary(OTHER, "text/x-unheard")})
    urls = [site.url("/a.png"), site.url("/b")]

    result = gather(site, tmp_path / "files", {"name": "x", "file_urls": urls})

    [item] = result.items
    assert item["name"] == "x"
    assert item["files"] == [
        {
            "url": urls[0],
            "path": str(tmp_path / "files" / f"{digest(PICTURE)}.png"),
            "size": len(PICTURE),
            "sha256": digest(PICTURE),
            "status": "downloaded",
            "reason": None,
        },
        {
            "url": urls[1],
            "path": str(tmp_path / "files" / digest(OTHER)),
            "size": len(OTHER),
            "sha256": digest(OTHER),
            "status": "downloaded",
            "reason": None,
        },
    ]
    assert (tmp_path / "files" / f"{digest(PICTURE)}.png").read_bytes() == PICTURE
    assert result.summary.urls.done == 3


def test_a_url_is_fetched_once_whoever_names_it(serve, tmp_path):
    pages = {f"/{n}": "page" for n in range(10)}
    site = serve(pages | {"/a.png": binary(PICTURE), "/same.png": binary(PICTURE)})
    urls = [site.url("/a.png"), site.url("/same.png"), site.url("/a.png")]

    result = gather(site, tmp_path, {"file_urls": urls}, {"file_urls": urls}, pages=pages)

    assert len(result.items) == 20
    assert all(files == result.items[0]["files"] for files in files_of(result))
    assert result.items[0]["files"][0]["path"] == result.items[0]["files"][1]["path"]
    assert len(result.items[0]["files"]) == 2
    asked = [hit.path for hit in site.requests]
    assert (asked.count("/a.png"), asked.count("/same.png")) == (1, 1)
    assert names_in(tmp_path) == [f"{digest(PICTURE)}.png"]


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (Reply(404, {}, "gone"), "http_404"),
        (Reply(206, {"content-range": "bytes 0-3/100"}, "part"), "http_206"),
        (faults.truncated(), "truncated"),
        (faults.truncated_gzip(), "truncated"),
        (bytes(6000), "too_large"),
        (Reply(302, {"location": "/loop"}), "redirect_loop"),
    ],
    ids=["404", "a part", "truncated", "gzip", "too large", "loop"],
)
def test_a_file_that_cannot_be_had_is_named_in_the_item(serve, tmp_path, page, reason):
    site = serve({"/": "home", "/loop": page, "/a.png": binary(PICTURE)})
    urls = [site.url("/loop"), site.url("/a.png")]

    result = gather(site, tmp_path, {"file_urls": urls}, max_file=5000)

    [[lost, kept]] = files_of(result)
    assert lost == dict.fromkeys(("path", "size", "sha256")) | {
        "url": urls[0],
        "status": "failed",
        "reason": reason,
    }
    assert kept["status"] == "downloaded"
    assert names_in(tmp_path) == [f"{digest(PICTURE)}.png"]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "invalid"),
        ("picture.png", "invalid"),
        ("http://", "invalid"),
        ("data:image/png;base64,AA", "scheme"),
        ("file:///etc/passwd", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("http://nowhere.invalid/x", "dns"),
        ("http://a.test/\ud800\r\nX: y", "invalid"),
    ],
)
def test_a_url_that_is_none_is_named_in_the_item(serve, tmp_path, url, reason):
    site = serve({"/": "home"})

    [[file]] = files_of(gather(site, tmp_path, {"file_urls": [url]}, retries=1, robots=False))

    assert (file["status"], file["url"]) == ("failed", url)
    assert file["reason"] in {reason, "dns"}


def test_robots_txt_and_private_addresses_are_respected(serve, tmp_path):
    private = serve({"/secret": binary(PICTURE)}, addresses=["127.0.0.2"])
    site = serve({"/": "home", "/robots.txt": "User-agent: *\nDisallow: /no", "/no": "x"})
    urls = [site.url("/no"), private.url("/secret")]

    [files] = files_of(gather(site, tmp_path, {"file_urls": urls}, allow_private=False))

    assert [file["reason"] for file in files] == ["robots", "blocked_address"]
    assert private.requests == []
    assert names_in(tmp_path) == []


def test_files_of_other_domains_are_fetched_and_their_pages_are_not(serve, tmp_path):
    cdn = serve(
        {"/a.png": binary(PICTURE), "/moved": Reply(302, {"location": "/a.png"})},
        addresses=["127.0.0.3"],
    )
    site = serve({"/": "home"})
    urls = [cdn.url("/a.png"), cdn.url("/moved")]

    def item(page):
        return {"file_urls": urls}

    spider = Gallery(
        start_urls=[site.url()], items=[item, lambda page: page.follow(cdn.url("/page"))]
    )
    spider.pipelines = [FilesPipeline(tmp_path)]
    result = crawl(spider, **FAST, depth=1, include=["nothing"])

    assert [file["status"] for file in result.items[0]["files"]] == ["downloaded"] * 2
    assert result.summary.urls.turned_away == {"domain": 1}


def test_what_is_excluded_is_not_fetched(serve, tmp_path):
    site = serve({"/": "home", "/a.zip": binary(PICTURE)})

    [[file]] = files_of(
        gather(site, tmp_path, {"file_urls": [site.url("/a.zip")]}, exclude=[r"\.zip$"])
    )

    assert file["reason"] == "exclude"


@pytest.mark.parametrize(
    ("path", "content_type"),
    [
        ("/..%2f..%2fetc%2fpasswd", "image/png"),
        ("/a/../../x.png", "../../png"),
        ("/%00.png", "image/png; name=../../x"),
        ("/x.png?../../../y", "image/../../png"),
        ("/" + "n" * 1000, "text/" + "x" * 1000),
    ],
)
def test_neither_url_nor_type_becomes_a_name(serve, tmp_path, path, content_type):
    headers = {
        "content-type": content_type,
        "content-disposition": 'attachment; filename="../../x"',
    }
    site = serve({"/": "home"})
    site.pages = _All({"/": "home"}, Reply(200, headers, PICTURE))

    [[file]] = files_of(
        gather(site, tmp_path / "files", {"file_urls": [site.url(path)]}, robots=False)
    )

    assert file["status"] == "downloaded"
    assert names_in(tmp_path) == ["files"]
    [name] = names_in(tmp_path / "files")
    assert name in {digest(PICTURE), digest(PICTURE) + ".png"}


class _All(dict):
    """Pages of a site that answers every other path with *reply*."""

    def __init__(self, pages, reply):
        super().__init__(pages)
        self.reply = reply

    def get(self, path, default=None):
        return super().get(path, self.reply)

    def __contains__(self, path):
        return True

    def __missing__(self, path):
        return self.reply


def test_a_file_that_failed_once_is_tried_again_as_pages_are(serve, tmp_path):
    replies = chain([Reply(503)], repeat(binary(PICTURE)))
    site = serve({"/": "home", "/a.png": lambda _: next(replies)})

    [[file]] = files_of(gather(site, tmp_path, {"file_urls": [site.url("/a.png")]}))

    assert file["status"] == "downloaded"


class Declared(Item):
    file_urls = Field()
    files = Field()


@dataclass
class Record:
    file_urls: list[str]
    files: list[dict] = field(default_factory=list)


@pytest.mark.parametrize("kind", [dict, Declared, Record])
def test_items_of_every_kind_get_their_files(serve, tmp_path, kind):
    site = serve({"/": "home", "/a.png": binary(PICTURE)})

    [item] = gather(site, tmp_path, kind(file_urls=[site.url("/a.png")])).items

    files = item.files if kind is Record else item["files"]
    assert [file["status"] for file in files] == ["downloaded"]


@dataclass
class WithoutField:
    file_urls: list[str]


@pytest.mark.parametrize("item", [{"file_urls": []}, {"file_urls": None}, {"title": "x"}])
def test_an_item_without_files_stays_as_it_is(serve, tmp_path, item):
    site = serve({"/": "home"})

    result = gather(site, tmp_path, dict(item))

    assert result.items == [item]
    assert not result.errors


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"file_urls": [1]}, "file_urls must be a list of URLs, not [1]"),
        ({"file_urls": 1}, "file_urls must be a list of URLs, not 1"),
        (WithoutField([""]), "WithoutField needs a field 'files' for the results"),
    ],
)
def test_an_item_that_cannot_have_files_says_why(serve, tmp_path, item, message):
    site = serve({"/": "home"})

    result = gather(site, tmp_path, item)

    [error] = result.errors
    assert error.kind == "process"
    assert message in error.reason


def test_a_single_url_needs_no_list(serve, tmp_path):
    site = serve({"/": "home", "/a.png": binary(PICTURE)})

    [[file]] = files_of(gather(site, tmp_path, {"file_urls": site.url("/a.png")}))

    assert file["status"] == "downloaded"


def test_the_end_counts_what_was_downloaded_and_what_failed(serve, tmp_path, caplog):
    caplog.set_level("INFO", "crawler.media")
    site = serve({"/": "home", "/a.png": binary(PICTURE)})

    gather(site, tmp_path, {"file_urls": [site.url("/a.png"), site.url("/gone")]})

    assert f"1 files downloaded to {tmp_path}, 1 failed" in caplog.text
    assert f"the file {site.url('/gone')} failed: http_404" in caplog.text


def test_many_items_wait_at_a_time_with_one_worker_of_each_kind(serve, tmp_path):
    pages = {f"/{n}": "page" for n in range(10)}
    site = serve(pages | {f"/{n}.png": binary(b"%d" % n) for n in range(10)})
    one = {"concurrency": 1, "analyze_workers": 1, "pipeline_workers": 1}
    pools = {
        f"pools.{kind}_{part}": 1
        for kind in ("req", "resp", "item")
        for part in ("buffer_cap", "max_buffer_number")
    }

    result = gather(
        site, tmp_path, lambda page: {"file_urls": [f"{page.url}.png"]}, pages=pages, **one, **pools
    )

    assert [file["status"] for [file] in files_of(result)] == ["downloaded"] * 10


def test_without_a_job_a_limit_of_the_crawl_is_named_in_the_item(serve, tmp_path):
    site = serve({"/": "home", "/a.png": binary(PICTURE)})

    result = gather(site, tmp_path, {"file_urls": [site.url("/a.png")]}, max_pages=1)

    assert [file["reason"] for [file] in files_of(result)] == ["page_limit"]
