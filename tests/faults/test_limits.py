"""The limits of the process: descriptors, memory, bytes in flight."""

import json
import subprocess
import sys
import textwrap

import gevent
import pytest

from crawler import Spider, stream
from crawler.scheduler.memory_guard import MIB, Memory, MemoryGuard, resident_size
from crawler.testing import End, Reply, Wire, faults

from .conftest import FAST

needs_sizes = pytest.mark.skipif(resident_size() is None, reason="the system does not report sizes")

#: A crawl in its own process; the last line of its stdout is JSON.
HEAD = """
from gevent import monkey; monkey.patch_all()
import json, resource, sys, threading
import gevent
from crawler import Request, Spider, crawl, stream
from crawler.scheduler.memory_guard import MIB, resident_size
from crawler.testing import LoopbackSite, Reply, faults
FAST = {"allow_private": True, "robots": False, "delay": 0, "per_host": 64,
        "politeness.latency_factor": 0, "politeness.jitter": 0, "retries": 1}
port = int(sys.argv[1])
"""
#: A server in another process, with its own memory and descriptors.
SERVER = """
import gevent
from crawler.testing import LoopbackSite, Reply, faults
site = LoopbackSite({pages}, addresses={addresses}).start()
print(site.port, flush=True)
gevent.sleep(600)
"""


@pytest.fixture
def server():
    started = []

    def serve(pages, addresses=("127.0.0.1",)):
        code = SERVER.replace("{pages}", pages).replace("{addresses}", repr(list(addresses)))
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        started.append(process)
        return int(process.stdout.readline())

    yield serve
    for process in started:
        process.kill()
        process.wait(120)
        process.stdout.close()


def run(port, code, timeout=300):
    program = HEAD + textwrap.dedent(code)
    done = subprocess.run(
        [sys.executable, "-c", program, str(port)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


# -- descriptors --------------------------------------------------------------------------------


@pytest.mark.parametrize("concurrency", [200, 2])
def test_without_descriptors_fewer_connections_fetch_every_page(server, concurrency):
    """Many descriptors may be in use at once, or for many hosts."""
    hosts = [f"127.0.0.{n}" for n in range(1, 81)]
    port = server("{f'/{n}': Reply(body='page', delay=0.01) for n in range(4)}", hosts)

    printed, log = run(
        port,
        f"""
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

        class All(Spider):
            start_urls = [f"http://127.0.0.{{h}}:{{port}}/{{n}}" for n in range(4) for h in range(1, 81)]

            def parse(self, page):
                yield {{"url": page.url}}

        result = crawl(All(), **{{**FAST, "concurrency": {concurrency}}})
        urls = result.summary.urls
        print(json.dumps([urls.done, dict(urls.failed), result.summary.retried,
                          len({{item["url"] for item in result.items}})]))
        """,
    )

    assert printed == [320, {}, 0, 320]
    assert log.count("out of file descriptors") == 1


# -- memory -------------------------------------------------------------------------------------


def test_memory_is_short_above_the_soft_limit_and_until_well_below_it(monkeypatch, caplog):
    sizes = iter([50, 100, 95, 91, 89, 95, 100, 80])
    relief = []
    guard = MemoryGuard(Memory(soft=100 * MIB), lambda: relief.append(guard.short))

    short = [guard._check(size * MIB) or guard.short for size in sizes]

    assert short == [False, True, True, True, False, False, True, False]
    assert relief == [False, False]
    assert len([r for r in caplog.records if "memory_soft" in r.getMessage()]) == 1


@needs_sizes
def test_above_the_soft_limit_a_crawl_comes_to_its_end(server):
    """The process is larger than the limit from the start, and pages wait for other fetches."""
    port = server("{f'/{n}': Reply(body='page', delay=0.01) for n in range(30)}")

    printed, log = run(
        port,
        """
        class All(Spider):
            start_urls = [f"http://127.0.0.1:{port}/{n}" for n in range(30)]

            def parse(self, page):
                self.fetch(page.url + "?again")
                yield {"url": page.url}

        result = stream(All(), memory_soft=MIB, **FAST)
        result.wait()
        print(json.dumps([result.summary.urls.done, result.reason]))
        """,
    )

    assert printed == [60, "finished"]
    assert log.count("memory_soft") == 1


@needs_sizes
def test_at_the_hard_limit_a_crawl_stops_cleanly(server):
    port = server("{'/': Reply(body='x' * 1000)}")

    printed, log = run(
        port,
        """
        hoard = []

        class Hoarder(Spider):
            start_urls = [f"http://127.0.0.1:{port}/?0"]
            max_depth = None

            def parse(self, page):
                hoard.append(b"x" * MIB)
                yield {"url": page.url}
                yield f"/?{len(hoard)}"

        result = crawl(Hoarder(), memory_hard=resident_size() + 60 * MIB, max_seconds=120, **FAST)
        urls = result.summary.urls
        print(json.dumps([result.reason, result.exit_code, urls.done == len(result.items),
                          urls.pending > 0, dict(urls.failed), dict(urls.refused)]))
        """,
    )

    assert printed == ["memory_limit", 3, True, True, {}, {}]
    assert log.count("memory_hard") == 1


# -- bytes in flight ----------------------------------------------------------------------------


def test_nothing_new_is_taken_while_too_many_bytes_are_in_flight(serve, visit):
    """Every page is half of the budget: two are held at most, and those being fetched."""
    site = serve({"/": b"x" * 50_000})
    at_once = []
    inside = set()

    def parse(spider, page):
        inside.add(page.url)
        at_once.append(len(inside))
        gevent.sleep(0.002)
        inside.discard(page.url)
        yield {"url": page.url}

    result = visit(
        parse,
        *(site.url(f"/?{n}") for n in range(60)),
        max_in_flight_bytes=100_000,
        concurrency=1,
    )

    assert result.summary.urls.done == 60
    assert max(at_once) <= 3
    assert result.scheduler._run.memory.held == 0


def test_what_is_being_received_counts_too():
    receiving = 60
    guard = MemoryGuard(Memory(in_flight=100), bool, lambda: receiving)
    guard.held = 39
    assert not guard.short

    guard.held = 40
    assert guard.short


def test_an_analysis_alone_is_no_reason_to_stop_all_others():
    guard = MemoryGuard(Memory(in_flight=100), bool)

    assert (guard.counted(30), guard.counted(1000)) == (30, 50)
    assert MemoryGuard(Memory(in_flight=None), bool).counted(1000) == 1000


def test_a_page_larger_than_the_budget_is_fetched_all_the_same(serve, visit):
    site = serve({f"/{n}": b"x" * 1000 for n in range(5)})

    def parse(spider, page):
        again = spider.fetch(page.url + "?again")
        yield {"size": len(page.body) + len(again.body)}

    result = visit(parse, *(site.url(f"/{n}") for n in range(5)), max_in_flight_bytes=10)

    assert [item["size"] for item in result.items] == [2000] * 5


class Follow(Spider):
    max_depth = None

    def parse(self, page):
        yield {"url": page.url}
        yield from page.links()


def test_a_body_in_many_pieces_counts_with_its_bytes_only(serve, quiet):
    """It never ends: had the good host waited for it, its timeout would have ended the test."""
    pieces = Wire(faults.head("transfer-encoding: chunked"), b"1\r\nx\r\n" * 20_000, End.HANG)
    hostile = serve({"/": pieces})
    good = serve({f"/{n}": Reply(body=f"<a href=/{n + 1}>", delay=0.02) for n in range(20)})
    first = [hostile.url("/"), good.url("/0")]

    result = stream(Follow(start_urls=first), max_in_flight_bytes=MIB, **FAST)
    reader = iter(result)
    items = [next(reader) for _ in range(20)]
    result.stop(0)

    assert {item["url"] for item in items} == {good.url(f"/{n}") for n in range(20)}
    assert len(hostile.requests) == 1


@needs_sizes
def test_endless_bodies_take_no_more_than_the_budget(server):
    """There are thirty-two at a time, each stopped at five megabytes."""
    port = server("{'/': faults.endless_body()}")

    printed, _ = run(
        port,
        """
        class Endless(Spider):
            start_urls = [f"http://127.0.0.1:{port}/?{n}" for n in range(64)]

        base, peak = resident_size(), 0
        over = False

        def watch():
            global peak
            while not over:
                peak = max(peak, resident_size())
                really_sleep(0.005)

        really_sleep = monkey.get_original("time", "sleep")
        monkey.get_original("_thread", "start_new_thread")(watch, ())
        result = crawl(Endless(), concurrency=32, max_body=5 * MIB, timeout=200,
                       max_in_flight_bytes=160 * MIB, **FAST)
        over = True
        print(json.dumps([dict(result.summary.urls.failed), (peak - base) // MIB]))
        """,
    )

    failed, grown = printed
    assert failed == {"too_large": 64}
    assert grown <= 1.5 * 160


# -- time -----------------------------------------------------------------------------------------


def test_a_reply_that_arrives_without_end_has_a_time_limit(server):
    """The server always has more to read, so the hub is never idle."""
    port = server("{'/': faults.endless_extension(), '/good': 'good'}", ["127.0.0.1", "127.0.0.2"])

    printed, _ = run(
        port,
        """
        class Endless(Spider):
            def start(self):
                for n in range(4):
                    yield Request(f"http://127.0.0.1:{port}/?{n}", timeout=1.5)
                yield from (f"http://127.0.0.2:{port}/good?{n}" for n in range(20))

            def parse(self, page):
                yield {"url": page.url}

        result = crawl(Endless(), timeout=200, **FAST)
        print(json.dumps([result.summary.urls.done, dict(result.summary.urls.failed)]))
        """,
    )

    assert printed == [20, {"timeout": 4}]
