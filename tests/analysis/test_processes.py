"""Crawls have the same results when their pages are analysed in other processes, even if those die."""

import json
import os
import signal
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from crawler import Spider, crawl, stream
from crawler.errors import DownloadError, ModuleError, Refusal
from crawler.feed.record import as_record
from crawler.middleware.spider.contract import SpiderMiddleware
from crawler.module import Analyzer
from crawler.module.remote import analyzer as remote
from crawler.testing import Reply, Site, faults, generated_site

from .conftest import (
    FREE,
    MANY,
    PAGES,
    Deadly,
    Ids,
    counted,
    eventually,
    is_alive,
    pids_of,
    run,
)


def descriptors():
    links = Path("/proc/self/fd").iterdir()
    return {link.name: str(link.readlink()) for link in links if link.is_symlink()}


def own_words(error):
    """Return the reason, unless libcurl gives it: a reset meets it while it sends, or while it reads."""
    return "" if isinstance(error, DownloadError) else error.reason


def results_of(result):
    """Return what must be the same in each crawl."""
    items = sorted(json.dumps(as_record(item), sort_keys=True) for item in result.items)
    errors = sorted((type(e).__name__, e.request.url, e.kind, own_words(e)) for e in result.errors)
    # In which order links are found, and so which are found nearer later, is a matter of chance.
    return items, replace(result.summary.urls, found_nearer=0), errors


def figures_of(result):
    """Return the figures of the hooks of all processes."""
    figures = result.chain.figures
    return {names: (f.calls, f.drops, f.failures) for names, f in figures.items()}


# -- the same results --------------------------------------------------------------------------


class Tagger(SpiderMiddleware):
    def process_response(self, response, request, spider):
        return {"seen by": "tagger", "url": response.url}

    def process_item(self, item, response, spider):
        return item | {"tagged": True} if "n" in item else item

    def process_request(self, request, response, spider):
        return None if request.url.endswith("/unwanted") else request

    def process_error(self, error, request, spider):
        return {"error": type(error).__name__, "at": request.url}


@dataclass
class Record:
    url: str
    when: tuple


class Everything(Spider):
    """Does all that a spider can do; no link leads to the pages that it fetches itself."""

    middlewares = [Tagger]

    def parse(self, page):
        yield {"url": page.url, "n": len(page.body), "title": page.css("title::text").get()}
        yield from page.links()
        yield page.follow(
            "/form", self.form, method="POST", body=b"\xff\0", meta={"from": page.url}
        )
        yield from [
            "/missing",
            "/moved",
            "/closed",
            "http://elsewhere.test/",
            "no url: ://",
            "/unwanted",
        ]
        if page.url.endswith("/page/7"):
            yield Record(page.url, (1, 2))
            yield {"fetched": self.fetch(page.urljoin("/form?more")).text}
            raise KeyError("seven")
        if page.url.endswith("/page/8"):
            try:
                self.fetch(page.urljoin("/closed?more"))
            except ModuleError as error:
                yield {"failed": error.kind, "of": error.request.url}
            try:
                self.fetch("ftp://127.0.0.1/")
            except Refusal as refusal:
                yield {"refused": refusal.reason}
        if page.url.endswith("/page/9"):
            yield "/after"
            yield object()
            yield {"after": "an object"}

    def form(self, page):
        yield {"form": page.url, "meta": dict(page.meta), "depth": page.depth}

    def errback(self, error):
        yield {"errback": getattr(error, "kind", None)}
        yield "/page/3"


def test_two_processes_find_what_one_process_finds(site):
    site.pages |= {
        "/form": "<p>a form",
        "/moved": Reply(301, {"Location": "/page/5"}),
        "/closed": faults.reset(),
        "/form?more": "more",
        "/closed?more": faults.reset(),
    }

    results = [crawl(Everything(start_urls=[site.url()]), analyzers=n, **FREE) for n in (0, 2)]

    here, there = map(results_of, results)
    assert here == there
    assert len(results[1].items) > 2 * PAGES
    assert results[0].summary.urls.failed.keys() >= {"parse", "http_404"}
    here, there = map(figures_of, results)
    assert here == there
    assert here["Tagger", "process_item"][0] > PAGES


def test_a_spider_can_be_crawled_again_and_the_ids_of_requests_are_unique_over_all_processes(site):
    """Each process numbers the requests that it finds."""
    spider = Ids(start_urls=[site.url()])
    seen = []

    def note(item):
        seen.append(item["id"])
        return item

    results = [crawl(spider, analyzers=n, feeds=[note], **FREE) for n in (2, 1)]

    assert [len(result.items) for result in results] == [PAGES, PAGES]
    assert [len(set(ids)) for ids in (seen[:PAGES], seen[PAGES:])] == [PAGES, PAGES]


# -- processes that die ------------------------------------------------------------------------


def test_only_the_page_that_ends_its_process_fails(site, no_process_left):
    result = crawl(Deadly(start_urls=[site.url()]), analyzers=2, **FREE)

    urls = result.summary.urls
    assert urls.failed == {"crashed": 1}
    assert (urls.pending, urls.admitted) == (0, urls.done + 1)
    [error] = result.errors
    assert error.request.url == site.url("/page/7")
    assert "exit status 3" in error.reason
    counts = counted(result)
    assert set(counts.values()) == {1}
    assert [n for url, n in counts if url == site.url("/page/8")] == [*range(MANY), "last"]


def test_a_page_whose_process_dies_once_is_analysed_again_and_no_item_is_doubled(site, tmp_path):
    spider = Deadly(start_urls=[site.url()], mark=str(tmp_path / "died"))

    result = crawl(spider, analyzers=2, **FREE)

    assert (tmp_path / "died").exists()
    assert result.errors == []
    counts = counted(result)
    assert set(counts.values()) == {1}
    assert len(counts) == PAGES * (MANY + 1)


def test_killed_processes_are_started_again_and_nothing_is_lost(site, monkeypatch):
    # There are so many kills that one page may meet several; it is not their cause.
    monkeypatch.setattr(remote, "_STRIKES", 99)
    crawling = stream(Deadly(start_urls=[site.url()], deadly="/none"), analyzers=2, **FREE)
    killed = set()
    for item in crawling:
        crawling.items.append(item)
        if len(crawling.items) % 2000 == 0:
            for pid in filter(is_alive, pids_of(crawling)[len(killed) % 2 :]):
                os.kill(pid, signal.SIGKILL)
                killed.add(pid)
    crawling.wait()

    assert len(killed) >= 3
    assert crawling.errors == []
    assert len(counted(crawling)) == PAGES * (MANY + 1)
    assert set(counted(crawling).values()) == {1}
    restarts = [m.restarts for m in crawling.scheduler.registrar.all(Analyzer)]
    assert sum(restarts) >= 2


class Hanging(Spider):
    def parse(self, page):
        yield {"url": page.url}
        yield from page.links()
        if page.url.endswith("/page/7"):
            time.sleep(1000)


def test_only_the_page_that_takes_too_long_fails(site):
    result = crawl(Hanging(start_urls=[site.url()]), analyzers=2, time_limit=3, **FREE)

    urls = result.summary.urls
    assert urls.failed == {"timeout": 1}
    assert (urls.done, urls.pending) == (PAGES - 1, 0)
    [error] = result.errors
    assert error.request.url == site.url("/page/7")
    assert set(Counter(item["url"] for item in result.items).values()) == {1}


class Slow(Spider):
    def parse(self, page):
        yield from page.links()
        time.sleep(0.25)
        yield {"url": page.url}


def test_the_time_limit_of_a_page_does_not_count_while_other_pages_are_analysed(site):
    site.pages = {"/": "".join(f"<a href=/{n}>" for n in range(10))} | {
        f"/{n}": f"<p>{n}" for n in range(10)
    }

    result = crawl(Slow(start_urls=[site.url()]), analyzers=1, time_limit=2, **FREE)

    assert result.errors == []
    assert len(result.items) == 11


# -- start and end -----------------------------------------------------------------------------


def test_stopping_leaves_no_process_and_no_descriptor(no_process_left):
    fetch = Site(generated_site(pages=8, links=4, size=2000))
    crawl(Ids(start_urls=["http://site.test/"]), analyzers=1, fetch=fetch, **FREE)
    before = descriptors()
    spider = Hanging(start_urls=["http://site.test/page/7"])
    crawling = stream(spider, analyzers=2, fetch=fetch, **FREE)
    pids = pids_of(crawling)
    modules = crawling.scheduler.registrar.all(Analyzer)
    eventually(lambda: sum(module.counts.handling for module in modules) == 1)

    crawling.stop(0.1)

    assert len(pids) == 2
    assert not any(map(is_alive, pids))
    assert descriptors() == before


def test_the_command_line_has_an_option_for_the_number_of_processes(site, tmp_path):
    out = tmp_path / "pages.jsonl"

    ran = run(
        "-m", "crawler", "crawl", site.url(), "--analyzers", 2, "--delay", 0, "--no-robots", "-O", out,
        "-s", "allow_private=true", "--json", cwd=tmp_path,
    )  # fmt: skip

    assert (ran.returncode, ran.stdout[:1]) == (0, "{")
    analyzers = json.loads(ran.stdout)["analyzers"]
    assert [module["id"] for module in analyzers] == ["A1|local:1", "A2|local:2"]
    assert all(module["completed"] for module in analyzers)
    assert len(out.read_text().splitlines()) == 5
