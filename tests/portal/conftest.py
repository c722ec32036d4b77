"""A real crawl with its live page; a real browser."""

import json
import os
import shutil
from contextlib import contextmanager
from http.client import HTTPConnection
from types import SimpleNamespace
from urllib.parse import urlsplit

import gevent
import pytest
from gevent.event import Event

from crawler import Spider, stream
from crawler.cli.crawl_progress import CrawlProgress
from crawler.frontier import Budget
from crawler.job import Job
from crawler.portal.live_page import LivePage
from crawler.testing import LoopbackSite, Reply

#: Text of a site that would do harm if it became markup.
HOSTILE = (
    """<script>document.title="owned"</script><img src=x onerror="document.title='owned'">'"&"""
)
#: Changes the direction of text, so that it can pretend to be other text.
OVERRIDE = "\u202e"


class Hostile(Spider):
    """Yields the titles of pages, and fails on some of them with their text."""

    name = "hostile"

    def parse(self, response):
        if "bad" in response.url:
            raise ValueError(f"no price in {HOSTILE}")
        yield {"title": response.title, HOSTILE: 1}
        yield from response.links()


def request(url, method="GET", body=None, **headers):
    """Send one request as any program might; return status, header fields and text."""
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname, parts.port, timeout=120)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request(method, target, body, headers)
        answer = connection.getresponse()
        return SimpleNamespace(
            status=answer.status, headers=answer.headers, text=answer.read().decode()
        )
    finally:
        connection.close()


def story_of(live, url):
    """Return what the crawl has committed about *url*, once it has ended."""
    with gevent.Timeout(120):
        while True:
            stories = json.loads(request(f"{live.url}api/v1/why?url={url}").text)
            if stories and stories[0]["status"] != "pending":
                return stories[0]
            gevent.sleep(0.02)


@pytest.fixture
def site():
    """A site of hostile pages, of which /held waits until `release` is set."""
    release = Event()

    def held(_):
        assert release.wait(120)
        return "<title>late</title>"

    links = "".join(f'<a href="/{name}">x</a>' for name in ("a", "bad", "gone", "held", "%3Cb%3E"))
    pages = {
        "/": f"<title>{HOSTILE}{OVERRIDE}</title>{links}<a href='http://else.test/<b>x</b>'>x</a>",
        "/a": "<title>A</title>",
        "/bad": "<title>bad</title>",
        "/gone": Reply(404),
        "/%3Cb%3E": "<title>b</title>",
        "/held": held,
    }
    with LoopbackSite(pages) as site:
        site.release = release
        yield site
        release.set()


@contextmanager
def followed(site, path, *, spider=Hostile):
    """Crawl *site* in the job directory *path*, with a live page; yield both."""
    stopped = Event()
    with Job(path) as job, LivePage() as page:
        feed = job.open_feed(str(path / "items.jsonl"))
        result = stream(
            spider(start_urls=[site.url()]),
            feeds=[feed, page.records],
            job=job,
            delay=0,
            robots=False,
            depth=3,
            domains=["127.0.0.1"],
        )
        progress = CrawlProgress(result.scheduler, Budget())
        page.follow(result.scheduler, progress, job=job.path, stop=stopped.set)
        items = gevent.spawn(list, result)
        crawl = SimpleNamespace(
            page=page, url=page.url, result=result, progress=progress, stopped=stopped, path=path
        )
        try:
            yield crawl
        finally:
            site.release.set()
            result.stop()
            items.join(120)


@pytest.fixture
def live(site, tmp_path):
    """A crawl that waits for its last page, and its live page."""
    with followed(site, tmp_path / "hostile") as crawl:
        with gevent.Timeout(120):
            while crawl.result.summary.urls.pending > 1 or not crawl.page.records.number:
                gevent.sleep(0.01)
        crawl.page.show(crawl.progress.read())
        yield crawl


def _browser_program():
    """Return the browser of the system; skip the test without one, or fail it if CI=true."""
    # The first is the same browser without a window; it takes a third less CPU.
    names = ("chromium-headless-shell", "chromium", "chromium-browser")
    program = next(filter(None, map(shutil.which, names)), None)
    if program is None:
        reason = "chromium is not installed: apt-get install chromium"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    return program


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=120_000)

    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=_browser_program(), args=flags)
        yield browser
        browser.close()


def inaccessible(tab):
    """Return what breaks the rules of accessibility on the page of *tab*."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(tab).response["violations"]
    return {rule["id"]: [node["html"] for node in rule["nodes"]] for rule in found}


def overhang(tab):
    """Return by how many pixels the page is wider than its window, once style and size are applied."""
    tab.wait_for_load_state("load")
    tab.evaluate("new Promise(next => requestAnimationFrame(() => requestAnimationFrame(next)))")
    return tab.evaluate("document.documentElement.scrollWidth - window.innerWidth")


_COLLISIONS = """() => {
  const texts = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, of = node.parentElement, range = document.createRange();
    if (!node.data.trim() || of.closest(".hidden, .skip, option") || !of.checkVisibility()) continue;
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) texts.push([node.data.trim(), box, of]);
  }
  const drawings = [...document.querySelectorAll("svg")].map(
    (one) => [one.getAttribute("aria-label"), one.getBoundingClientRect(), one]);
  const box = (one) => one?.closest(".scroll, pre");
  return texts.flatMap(([text, a, of], number) => texts.slice(number + 1).concat(drawings).filter(
    ([, b, other]) => box(of) === box(other)
      && Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2
      && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4
  ).map(([other]) => [text, other]));
}"""
_CUT_HINTS = """() => [...document.querySelectorAll("input")].filter((field) => {
  const pen = document.createElement("canvas").getContext("2d"), style = getComputedStyle(field);
  pen.font = style.font;
  const room = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  return field.placeholder && pen.measureText(field.placeholder).width > room;
}).map((field) => field.placeholder)"""


def illegible(tab):
    """Return the texts on the page of *tab* that cover others or a chart, and hints that are cut."""
    return tab.evaluate(_COLLISIONS) + tab.evaluate(_CUT_HINTS)


@pytest.fixture
def tab(browser):
    """
    A tab that fails the test if a page reports an error, breaks its own policy, or lets the
    browser ask another machine.
    """
    context = browser.new_context()
    context.set_default_timeout(120_000)
    tab = context.new_page()
    complaints = []
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
    hosts = set()
    tab.on("request", lambda request: hosts.add(urlsplit(request.url).hostname))
    yield tab
    context.close()
    assert complaints == []
    assert hosts <= {"127.0.0.1", None}  # None: a file
