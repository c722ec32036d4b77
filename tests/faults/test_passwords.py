"""A password in a URL is sent to its server, and appears nowhere else."""

import base64
import json
import os
import stat
from collections import Counter

import pytest

from crawler import Spider, crawl
from crawler.testing import LoopbackSite, Reply

from ..cli.conftest import crawler
from .conftest import FAST

SECRET = "s3cr:et/w@rd"
IN_URL = "us%20er:s3cr%3Aet%2Fw%40rd@"
LOGIN = "Basic " + base64.b64encode(f"us er:{SECRET}".encode()).decode()
#: Every form in which it could appear.
FORMS = [SECRET.encode(), b"s3cr", LOGIN.encode(), base64.b64encode(LOGIN.encode())]


def private(text):
    """A page for those who are logged in."""

    def page(request):
        if request.headers.get("authorization") != LOGIN:
            return Reply(401, body="who are you?")
        return text

    return page


@pytest.fixture
def site():
    pages = {
        "/": '<a href="/a">a</a><a href="moved">m</a><a href="/gone">g</a><a href="http://[u:p4ge@x">',
        "/a": '<a href="//PLACE/b">b</a>',
        "/b": "b",
        "/gone": Reply(404),
        "/moved": Reply(302, {"location": "/b?again"}),
        "/b?again": "b",
    }
    with LoopbackSite({}) as site:
        pages["/a"] = pages["/a"].replace("PLACE", f"127.0.0.1:{site.port}")
        site.pages = {
            path: private(page) if isinstance(page, str) else page for path, page in pages.items()
        }
        site.named = site.url().replace("://", f"://{IN_URL}")
        yield site


def files(directory):
    return [path for path in directory.rglob("*") if path.is_file()]


QUICK = ("--depth", "5", "-s", "delay=0", "-s", "politeness.latency_factor=0")
OUTPUTS = ("-O", "o.jsonl", "-O", "o.csv", "-O", "o.sqlite", "-O", "o.parquet")
OUTPUTS = (*OUTPUTS, "--warc", "o.warc", "--report", "report.json", "--job", "job")


def test_a_command_prints_and_writes_no_password(site, tmp_path):
    run = ("crawl", site.named, *QUICK, *OUTPUTS, "-L", "DEBUG", "-v")
    commands = [
        (*run, "--json"),
        run,
        ("urls", "job", "--json"),
        ("urls", "job"),
        ("why", site.named, "--job", "job", "--json"),
        ("report", "job"),
        ("jobs", "job", "--json"),
        ("fetch", site.named, "--json"),
        ("fetch", f"{site.named}gone", "--headers"),
        ("crawl", f"http://{IN_URL}no such host/", "--job", "other"),
    ]

    done = [crawler(*command, cwd=tmp_path) for command in commands]

    assert [one.returncode for one in done[:6]] == [0] * 6
    for command, one in zip(commands, done, strict=True):
        for form in FORMS:
            assert form.decode() not in one.stdout + one.stderr, command
    assert "p4ge" not in "".join(one.stdout + one.stderr for one in done[:6])
    for path in files(tmp_path):
        for form in FORMS:
            assert form not in path.read_bytes(), path
    records = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()]
    assert {record["url"] for record in records} == {
        site.url(path) for path in ("/", "/a", "/b", "/b?again", "/gone")
    }
    assert {record["found_on"] for record in records} == {None, site.url(), site.url("/a")}


def test_every_page_of_the_site_that_the_user_named_gets_it(site, tmp_path):
    crawler("crawl", site.named, *QUICK, "--job", "job", cwd=tmp_path)

    assert {hit.path for hit in site.requests} == {
        *("/robots.txt", "/", "/a", "/b", "/gone", "/moved", "/b?again")
    }
    assert {hit.headers.get("authorization") for hit in site.requests} == {LOGIN}


def test_it_is_sent_to_its_origin_only(site):
    with LoopbackSite({"/x": f'<a href="{site.url("/a")}">', "/y": "y"}) as other:
        site.pages["/"] = private(f'<a href="{other.url("/x")}"><a href="/out">')
        site.pages["/out"] = Reply(302, {"location": other.url("/y")})

        class Copying(Spider):
            start_urls = [site.named]
            accepted_domains = ["127.0.0.1"]

            def parse(self, page):
                yield from page.links()
                yield page.request.replace(url=other.url("/copied"))

        crawl(Copying(), **FAST)

        assert {hit.path for hit in other.requests} == {"/x", "/y", "/copied"}
        assert not any(b"uthorization" in hit.head for hit in other.requests)


def test_a_link_cannot_choose_the_login_of_a_site(site):
    """It is sent with the request for that link, as browsers do, and with no other."""
    attack = site.url("/b").replace("://", "://evil:evil@")
    site.pages = {"/": f'<a href="{attack}"><a href="/a">', "/a": "a", "/b": "b"}

    class All(Spider):
        start_urls = [site.url()]

        def parse(self, page):
            yield {"url": page.url}
            yield from page.links()

    result = crawl(All(), **FAST)

    assert {item["url"] for item in result.items} == {site.url(path) for path in ("/", "/a", "/b")}
    sent = {hit.path: hit.headers.get("authorization") for hit in site.requests}
    assert sent["/b"].startswith("Basic ")
    assert (sent["/"], sent["/a"]) == (None, None)


def test_errors_and_their_requests_do_not_have_it(site):
    failed = []

    class Failing(Spider):
        start_urls = [f"{site.named}gone", f"http://{IN_URL}127.0.0.1:1/"]

        def errback(self, error):
            failed.append(error)

    result = crawl(Failing(), retries=1, **FAST)

    assert Counter(result.summary.urls.failed) == {"http_404": 1, "connect": 1}
    assert len(failed) == 2
    text = repr([*failed, *result.errors, *(error.request for error in result.errors)])
    text += str(result.summary)
    assert not any(form.decode() in text for form in FORMS)


@pytest.mark.parametrize("mask", [0o002, 0o077])
def test_outputs_follow_the_umask_and_the_state_is_private(site, tmp_path, mask):
    before = os.umask(mask)
    try:
        crawler("crawl", site.named, *QUICK, *OUTPUTS, cwd=tmp_path)
    finally:
        os.umask(before)

    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in files(tmp_path)}
    state = {path.name: mode for path, mode in modes.items() if path.parent.name == "job"}
    outputs = {path.name: mode for path, mode in modes.items() if path.parent.name != "job"}
    assert {"state.db", "job.json", "lock", "state.marker"} <= state.keys()
    assert set(state.values()) == {0o600}
    assert len(outputs) == 6
    assert set(outputs.values()) == {0o666 & ~mask}
