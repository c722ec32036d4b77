"""Crawls whose pages are analysed in child processes: the same results, whatever becomes of those."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import gevent
import pytest

from crawler import Request, Spider, crawl, stream
from crawler.errors import ModuleError, Refusal
from crawler.feed.record import as_record
from crawler.middleware.spider.contract import SpiderMiddleware
from crawler.module import Analyzer, ChildError
from crawler.module.remote import analyzer as remote
from crawler.testing import LoopbackSite, Reply, Site, faults, generated_site

FREE = {
    "allow_private": True,
    "delay": 0,
    "robots": False,
    "per_host": 100,
    "retries": 1,
    "politeness.latency_factor": 0,
    "depth": None,
}
#: How many pages the site has, and items each page of Deadly: more than are sent together.
PAGES, MANY = 30, 150


@pytest.fixture(autouse=True)
def deadline():
    with gevent.Timeout(50):
        yield


@pytest.fixture
def site():
    pages = generated_site(pages=PAGES, links=4, size=2000)
    with LoopbackSite(pages) as site:
        yield site


def descriptors():
    links = Path("/proc/self/fd").iterdir()
    return {link.name: str(link.readlink()) for link in links if link.is_symlink()}


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def children():
    pids = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [int(pid) for pid in pids]


def eventually(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        gevent.sleep(0.02)


def told(result):
    """Everything a crawl tells, but for what is another every time."""
    items = sorted(json.dumps(as_record(item), sort_keys=True) for item in result.items)
    errors = sorted((type(e).__name__, e.request.url, e.kind, e.reason) for e in result.errors)
    return items, result.summary.urls, errors


def pids_of(result):
    return [module.summary().extra["pid"] for module in result.scheduler.registrar.all(Analyzer)]


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
    """Does all that a spider can do; what it fetches itself, no link leads to."""

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


def test_two_children_find_what_one_process_finds(site):
    site.pages |= {
        "/form": "<p>a form",
        "/moved": Reply(301, {"Location": "/page/5"}),
        "/closed": faults.reset(),
        "/form?more": "more",
        "/closed?more": faults.reset(),
    }

    results = [crawl(Everything(start_urls=[site.url()]), analyzers=n, **FREE) for n in (0, 2)]

    here, there = map(told, results)
    assert here == there
    assert len(results[1].items) > 2 * PAGES
    assert results[0].summary.urls.failed.keys() >= {"parse", "http_404"}


def test_figures_of_hooks_are_those_of_all_processes(site):
    results = [crawl(Everything(start_urls=[site.url()]), analyzers=n, **FREE) for n in (0, 2)]

    here, there = (
        {names: (f.calls, f.drops, f.failures) for names, f in result.chain.figures.items()}
        for result in results
    )
    assert here == there
    assert here["Tagger", "process_item"][0] > PAGES


def test_a_spider_may_be_crawled_again(site):
    spider = Ids(start_urls=[site.url()])

    results = [crawl(spider, analyzers=1, **FREE) for _ in range(2)]

    assert [len(result.items) for result in results] == [PAGES, PAGES]


class Shapes(Spider):
    def parse(self, page):
        yield Record(page.url, (1, 2))
        yield {"set": {2, 1}, "bytes": b"x"}


def test_items_come_as_the_records_that_feeds_would_write(site):
    seen = []

    def note(item):
        seen.append(item)
        return item

    result = crawl(Shapes(start_urls=[site.url()]), analyzers=1, feeds=[note], **FREE)

    assert sorted(result.items, key=len) == sorted(seen, key=len)
    assert {"url": site.url(), "when": [1, 2]} in seen
    assert {"set": [1, 2], "bytes": "eA=="} in seen


class Unsendable(Spider):
    def parse(self, page):
        yield {"lock": object()}
        yield page.follow("/page/1", self.other, meta={"lock": object()})
        yield page.follow("/page/2", self.other)

    def other(self, page):
        yield {"other": page.url}
        with self.waiting():
            yield {"never": "here"}


def test_what_cannot_leave_its_process_is_an_error_of_its_page_alone(site):
    result = crawl(Unsendable(start_urls=[site.url()]), analyzers=1, **FREE)

    assert result.items == [{"other": site.url("/page/2")}]
    assert result.summary.urls.failed == {"parse": 2}
    first, second = sorted((error.reason for error in result.errors), key=len, reverse=True)
    assert "waiting() is of no use" in second or "waiting() is of no use" in first
    causes = "".join(str(error.__cause__) for error in result.errors)
    assert "field 'lock'" in causes
    assert "meta['lock']" in causes


# -- children that die -------------------------------------------------------------------------


class Deadly(Spider):
    """Dies on one page: each time, or only the first."""

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


def test_a_page_that_ends_its_process_fails_and_no_other(site):
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
    assert children() == []


def test_a_page_whose_process_dies_once_is_analysed_again_and_nothing_comes_twice(site, tmp_path):
    spider = Deadly(start_urls=[site.url()], mark=str(tmp_path / "died"))

    result = crawl(spider, analyzers=2, **FREE)

    assert (tmp_path / "died").exists()
    assert result.errors == []
    counts = counted(result)
    assert set(counts.values()) == {1}
    assert len(counts) == PAGES * (MANY + 1)


def test_children_that_are_killed_are_started_again_and_lose_nothing(site, monkeypatch):
    # Kills come so often that one page may meet several: it is not to blame for them.
    monkeypatch.setattr(remote, "_STRIKES", 99)
    crawling = stream(Deadly(start_urls=[site.url()], deadly="/none"), analyzers=2, **FREE)
    killed = set()
    for item in crawling:
        crawling.items.append(item)
        if len(crawling.items) % 800 == 0:
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
            while True:
                pass


def test_a_page_that_takes_too_long_fails_and_no_other(site):
    result = crawl(Hanging(start_urls=[site.url()]), analyzers=2, time_limit=1, **FREE)

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


def test_the_time_in_line_behind_other_pages_is_not_held_against_a_page(site):
    site.pages = {"/": "".join(f"<a href=/{n}>" for n in range(10))} | {
        f"/{n}": f"<p>{n}" for n in range(10)
    }

    result = crawl(Slow(start_urls=[site.url()]), analyzers=1, time_limit=1, **FREE)

    assert result.errors == []
    assert len(result.items) == 11


# -- beginning and end -------------------------------------------------------------------------


def test_stopping_leaves_no_process_and_no_descriptor():
    fetch = Site(generated_site(pages=8, links=4, size=2000))
    crawl(Ids(start_urls=["http://site.test/"]), analyzers=1, fetch=fetch, **FREE)
    before = descriptors()
    spider = Hanging(start_urls=["http://site.test/page/7"])
    crawling = stream(spider, analyzers=3, fetch=fetch, **FREE)
    pids = pids_of(crawling)
    modules = crawling.scheduler.registrar.all(Analyzer)
    eventually(lambda: sum(module.counts.handling for module in modules) == 1)

    crawling.stop(0.1)

    assert len(pids) == 3
    assert not any(map(is_alive, pids))
    assert children() == []
    assert descriptors() == before


def test_children_that_wait_or_work_do_not_mind_ctrl_c(site):
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
    """Leaves a note in each process that opens and closes it."""

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


def test_a_child_that_cannot_get_ready_keeps_the_crawl_from_beginning(site):
    with pytest.raises(ChildError, match="RuntimeError: not in this process"):
        crawl(Picky(start_urls=[site.url()], home=os.getpid()), analyzers=2, **FREE)

    assert site.requests == []
    assert children() == []


def test_a_spider_that_cannot_be_copied_is_refused_with_the_remedy(site):
    spider = Notes(start_urls=[site.url()], hook=lambda: 1)

    with pytest.raises(ValueError, match=r"cannot be copied.*open\(\)"):
        crawl(spider, analyzers=1, **FREE)


# -- programs ----------------------------------------------------------------------------------

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
    return subprocess.run(command, capture_output=True, text=True, timeout=40, **options)


def test_a_program_that_patches_nothing_may_have_its_spider_in_it(site, tmp_path):
    path = tmp_path / "own program.py"
    path.write_text(program(site))

    ran = run(path)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[-1] == "items 1 True"


def test_a_program_run_as_a_module_may_too(site, tmp_path):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__init__.py").touch()
    (tmp_path / "pack" / "names.py").write_text("NAME = 'own'")
    text = program(site).replace("import os", "from .names import NAME\nimport os", 1)
    (tmp_path / "pack" / "own.py").write_text(text)

    ran = run("-m", "pack.own", cwd=tmp_path)

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[-1] == "items 1 True"


def test_a_program_may_bring_middlewares_to_a_spider_from_elsewhere(site, tmp_path):
    (tmp_path / "spiders.py").write_text(
        "from crawler import Spider\nclass Other(Spider):\n    def parse(self, page):\n"
        "        yield {'url': page.url}\n"
    )
    (tmp_path / "program.py").write_text(
        "from crawler import crawl\n"
        "from crawler.middleware.spider.contract import SpiderMiddleware\n"
        "from spiders import Other\n"
        "class Mark(SpiderMiddleware):\n"
        "    def process_item(self, item, response, spider):\n"
        "        return item | {'marked': True}\n"
        'if __name__ == "__main__":\n'
        f"    spider = Other(start_urls=[{site.url()!r}])\n"
        "    options = dict(allow_private=True, delay=0, robots=False)\n"
        "    print(crawl(spider, middlewares=[Mark()], analyzers=1, **options).items)\n"
    )

    ran = run(tmp_path / "program.py")

    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.strip() == str([{"url": site.url(), "marked": True}])


def test_a_program_that_crawls_as_it_is_imported_is_told_to_mind_its_name(site, tmp_path):
    path = tmp_path / "own.py"
    path.write_text(program(site, guard="if True:"))

    ran = run(path)

    assert ran.returncode == 1
    assert '`if __name__ == "__main__":`' in ran.stderr
    assert site.requests == []


def test_a_spider_that_is_in_no_file_is_refused(site):
    ran = run("-", input=program(site))

    assert ran.returncode == 1
    assert "was not read from a file" in ran.stderr


@pytest.mark.parametrize("work", ["time.sleep(100)", "\n        while True: pass"])
def test_no_child_outlives_a_parent_that_is_killed(site, tmp_path, work):
    path = tmp_path / "own.py"
    path.write_text(program(site, work=work))
    parent = subprocess.Popen([sys.executable, path], stdout=subprocess.PIPE, text=True)
    with parent:
        pid = int(parent.stdout.readline().split()[-1])
        assert is_alive(pid)
        parent.kill()

    eventually(lambda: not is_alive(pid))


def test_the_command_line_has_an_option_for_it(site, tmp_path):
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


def test_a_spider_of_the_command_line_may_be_called_like_anything(site, tmp_path):
    own = f"Spider):\n    settings = {FREE}\n    start_urls = [{site.url()!r}]"
    text = program(site, guard="if False:").replace("Spider):", own)
    (tmp_path / "calendar.py").write_text(text)
    command = Path(sys.executable).with_name("crawler")

    ran = run(command, "run", "calendar.py", "--analyzers", 1, cwd=tmp_path)

    assert ran.returncode == 0, ran.stderr
    assert '{"pid": ' in ran.stdout


def test_requests_keep_their_ids_apart(site):
    """Those that children find are numbered by them."""
    seen = []

    def note(item):
        seen.append(item["id"])
        return item

    crawl(Ids(start_urls=[site.url()]), analyzers=2, feeds=[note], **FREE)

    assert len(set(seen)) == len(seen) == PAGES


class Ids(Spider):
    def parse(self, page):
        yield {"id": page.request.id}
        for url in page.links():
            yield Request(url)
