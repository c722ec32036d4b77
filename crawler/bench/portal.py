"""
What a portal with many runs, long logs and many open pages costs, and a crawl with a live page.

    crawler bench portal

The portal and the crawls are processes of their own; what they take of a core is read from the
system. Its store is filled with tasks and runs, and the log of one run with lines, before it starts.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPResponse
from itertools import count
from pathlib import Path
from statistics import median
from time import monotonic, time
from typing import Any
from urllib.parse import urlsplit

import gevent
from gevent import subprocess

from ..testing import LoopbackSite, Reply
from .measuring.child import BenchError
from .measuring.report import Report, Samples, Target, spread, table, text, times

#: Targets: seconds for a page and for a search, the share of a core, and CPU a page beside a live page.
MOST_PAGE, MOST_SEARCH, MOST_SHARE, MOST_LIVE = 0.1, 0.05, 0.1, 1.03
#: How many pages are open at a time; how long they are watched; how often a page is asked for.
_OPEN, _WATCHED, _TRIES = 200, 20.0, 9
_LONGEST = 300.0
_NEEDLE = "needle"
_ALONE, _SEEN = "a crawl", "with --live and an open page"
_TICKS = os.sysconf("SC_CLK_TCK")


def run(
    runs: int,
    lines: int,
    pages: int,
    repeats: int,
    show_progress: Callable[[str], object] = lambda _: None,
) -> Report:
    """Measure a portal with *runs* runs and a log of *lines* lines, and crawls of *pages* pages."""
    rows: dict[str, Samples] = {}
    with tempfile.TemporaryDirectory(prefix="portal-") as folder, _waiting_site() as site:
        show_progress(f"a store with {runs} runs, and a log with {lines} lines")
        cookie, busy = _fill(Path(folder), runs, lines, site)
        with _started(["portal", "--port", "0"], folder, rb"portal: (\S+)") as (process, url):
            show_progress("pages")
            for name, route in _routes(runs, busy).items():
                rows[name] = {"seconds": [_seconds(url, cookie, route) for _ in range(_TRIES)]}
            show_progress(f"{_OPEN} open pages")
            rows[f"{_OPEN} open pages"] = {"share": [_watched_share(process, url, cookie, busy)]}
    rows |= _live_rows(pages, repeats, show_progress)
    setting = {"runs": runs, "lines": lines, "pages": pages}
    return Report("portal", setting, rows, _targets(rows))


def _targets(rows: dict[str, Samples]) -> list[Target]:
    timed = {name: median(found["seconds"]) for name, found in rows.items() if "seconds" in found}
    searches = {name: found for name, found in timed.items() if "search" in name}
    slow = max((name for name in timed if name not in searches), key=lambda name: timed[name])
    search = max(searches, key=lambda name: searches[name])
    [share] = (found["share"][0] for found in rows.values() if "share" in found)
    ratios = times(rows[_SEEN]["cpu_us"], rows[_ALONE]["cpu_us"])
    return [
        Target(f"seconds for {slow!r}", timed[slow], MOST_PAGE),
        Target(f"seconds for {search!r}", timed[search], MOST_SEARCH),
        Target(f"share of a core for {_OPEN} open pages", share, MOST_SHARE),
        Target("CPU a page with --live and an open page ÷ without", median(ratios), MOST_LIVE),
    ]


def show(report: Report) -> str:
    timed = [
        (
            name,
            *(f"{1000 * value:.1f}" for value in (median(found["seconds"]), max(found["seconds"]))),
        )
        for name, found in report.rows.items()
        if "seconds" in found
    ]
    crawls = [(name, spread(report.rows[name]["cpu_us"], 0)) for name in (_ALONE, _SEEN)]
    pages = table(("asked for", "ms, median", "most"), timed)
    return text(report, f"{pages}\n\n{table(('crawled', 'µs CPU a page'), crawls)}")


# -- the store ------------------------------------------------------------------------------------


def _fill(folder: Path, runs: int, lines: int, site: LoopbackSite) -> tuple[str, int]:
    """Fill a store; return the cookie of a session, and the number of a run that goes on."""
    from ..portal.store.database import Database
    from ..portal.store.runs import Runs
    from ..portal.store.sessions import Sessions
    from ..portal.store.tasks import Task, Tasks
    from ..portal.store.users import Users

    (folder / "portal").mkdir()
    with closing(Database(folder / "portal" / "portal.db")) as database:
        tasks, now = Tasks(database), time()
        user = Users(database).add("bench", secrets.token_urlsafe(), "admin", now=now)
        spec = Task("t0", urls=("http://127.0.0.1:9/",), cron="30 2 * * *")
        numbers = [
            tasks.save(Task(f"t{n}", urls=spec.urls, cron=spec.cron), now=now, who="bench")
            for n in range(max(1, runs // 100))
        ]
        with database.transaction():
            for n in range(runs):
                _insert_run(database, numbers[n % len(numbers)], n, spec.to_json(), now)
        settings = {"robots": "false", "depth": "99", "timeout": "300", "delay": "0"}
        task = Task("busy", urls=(site.url("/0"),), settings=settings)
        number = tasks.save(task, now=now, who="bench")
        found = tasks.find(number)
        if found is None:
            raise BenchError("the task was not saved")
        busy = Runs(database).ask(found, now=now, who="bench")
        cookie = Sessions(database).open(user, now)
    _write_log(folder / "portal" / "runs" / str(runs), lines)
    return cookie, busy


def _insert_run(database: object, task: int, number: int, spec: str, now: float) -> None:
    query = (
        "INSERT INTO run (task, number, job, spec, state, token, asked_by, asked, began, ended, exit)"
        " VALUES (?, ?, ?, ?, ?, 't', 'cron', ?, ?, ?, 0)"
    )
    at = now - 60.0 * (1_000_000 - number)
    state = ("finished", "failed", "stopped")[number % 7 % 3]
    values = (task, number, number + 1, spec, state, at, at, at + 30)
    database.change(query, *values)  # type: ignore[attr-defined]


def _write_log(folder: Path, lines: int) -> None:
    """Write a log of *lines* lines, one of them with the needle, and its index."""
    from ..portal.runs.log_index import LogIndex

    folder.mkdir(parents=True)
    with (folder / "log.txt").open("w") as log:
        for n in range(lines):
            word = _NEEDLE if n == lines // 2 else "fetched"
            line = {"ts": "2026-11-18T04:00:00+00:00", "level": "INFO", "logger": "crawler"}
            about = {"request": f"{n:x}", "host": f"h{n % 997}.test", "url": f"http://x.test/{n}"}
            log.write(json.dumps(line | about | {"message": f"{word} page {n} in 12 ms"}) + "\n")
    index = LogIndex(folder)
    while index.update(is_over=True):
        pass


def _routes(runs: int, busy: int) -> dict[str, str]:
    log = f"/runs/{runs}/log"
    return {
        "all tasks": "/",
        "a task": "/tasks/1/",
        "a run that is over": f"/runs/{runs}/",
        "a run that goes on": f"/runs/{busy}/",
        "runs by the API": "/api/v1/runs?most=200",
        "the end of the log": log,
        "search for a word": f"{log}?words={_NEEDLE}",
        "search for a host and words": f"{log}?words=page&host=h5.test",
    }


# -- the portal -----------------------------------------------------------------------------------


@contextmanager
def _waiting_site() -> Iterator[LoopbackSite]:
    """Serve a site without an end: ten pages a second."""
    numbers = count(1)

    def page(_: object) -> Reply:
        links = "".join(f'<a href="/{next(numbers)}">x</a>' for _ in range(3))
        return Reply(200, body=f"<title>x</title>{links}".encode(), delay=0.1)

    with LoopbackSite({f"/{n}": page for n in range(20_000)}) as site:
        yield site


@contextmanager
def _started(
    words: Sequence[str], folder: str, pattern: bytes
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """
    Start a command of ours; yield it with what it has printed for *pattern*.

    All that it has started is ended.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "crawler", *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    errors: Any = process.stderr
    drain = None
    try:
        url = _printed(errors, pattern) if pattern else ""
        drain = gevent.spawn(errors.read)
        yield process, url
    finally:
        process.kill()
        process.wait()
        gevent.killall([drain] if drain else [])
        errors.close()
        for pid in Path(folder).glob("portal/runs/*/pid"):
            _end(pid)


def _printed(lines: Iterable[bytes], pattern: bytes) -> str:
    """Return what the command has printed."""
    with gevent.Timeout(_LONGEST, BenchError("it has not started")):
        for line in lines:
            if found := re.search(pattern, line):
                return found[1].decode()
    raise BenchError("it has ended")


def _end(pid: Path) -> None:
    """End a run, and wait until its parent has written that down."""
    with suppress(ProcessLookupError):
        os.kill(int(pid.read_text()), signal.SIGKILL)
    with gevent.Timeout(_LONGEST, BenchError("a run does not end")):
        while not (pid.parent / "exit").exists():
            gevent.sleep(0.02)


def _open(url: str, cookie: str, route: str) -> tuple[HTTPConnection, HTTPResponse]:
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=_LONGEST)
    connection.request("GET", route, headers={"Cookie": f"crawler_portal={cookie}"})
    answer = connection.getresponse()
    if answer.status != 200:
        raise BenchError(f"{route} answers {answer.status}")
    return connection, answer


def _seconds(url: str, cookie: str, route: str) -> float:
    began = monotonic()
    connection, answer = _open(url, cookie, route)
    answer.read()
    connection.close()
    return monotonic() - began


def _watched_share(process: subprocess.Popen[bytes], url: str, cookie: str, busy: int) -> float:
    """Return the share of a core that the portal takes while browsers watch a run and its log."""
    routes = [f"/runs/{busy}/events"] * (_OPEN * 3 // 4) + [f"/runs/{busy}/log/events"] * (
        _OPEN // 4
    )
    with gevent.Timeout(_LONGEST, BenchError("the run has not started")):
        while b'class="state running"' not in _page(url, cookie, f"/runs/{busy}/"):
            gevent.sleep(0.5)
    opened = [_open(url, cookie, route) for route in routes]
    readers = [gevent.spawn(_read_all, answer) for _, answer in opened]
    gevent.sleep(2.0)
    began, cpu = monotonic(), _cpu(process.pid)
    gevent.sleep(_WATCHED)
    share = (_cpu(process.pid) - cpu) / (monotonic() - began)
    if any(reader.ready() for reader in readers):
        raise BenchError("a page was closed")
    gevent.killall(readers)
    for connection, _ in opened:
        connection.close()
    return share


def _page(url: str, cookie: str, route: str) -> bytes:
    connection, answer = _open(url, cookie, route)
    body: bytes = answer.read()
    connection.close()
    return body


def _read_all(answer: HTTPResponse) -> None:
    while answer.readline():
        pass


def _cpu(pid: int) -> float:
    """Return the seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


# -- a crawl with a live page -----------------------------------------------------------------------


def _live_rows(
    pages: int, repeats: int, show_progress: Callable[[str], object]
) -> dict[str, Samples]:
    found: dict[str, list[float]] = {_ALONE: [], _SEEN: []}
    for repeat in range(repeats):
        for name in sorted(found, reverse=bool(repeat % 2)):
            show_progress(f"{repeat + 1}/{repeats} {name}")
            found[name].append(_cpu_a_page(pages, is_watched=name == _SEEN))
    return {name: {"cpu_us": values} for name, values in found.items()}


def _cpu_a_page(pages: int, *, is_watched: bool) -> float:
    """Return the µs of CPU for each page between a fifth and nine tenths of a crawl."""
    body = "<title>x</title>" + "<p>some words of a page</p>" * 300
    links = "".join(f'<a href="/{n}">x</a>' for n in range(pages))
    site = LoopbackSite({"/": links, **{f"/{n}": body for n in range(pages)}})
    words = ["--depth", "1", "-s", "delay=0", "-s", "robots=false", "-O", "out.jsonl"]
    words += ["-s", "politeness.latency_factor=0"]
    pattern = rb"live page: (\S+)" if is_watched else b""
    words += ["--live=0"] if is_watched else []
    with (
        site,
        tempfile.TemporaryDirectory(prefix="live-") as folder,
        _started(["crawl", site.url(), *words], folder, pattern) as (process, url),
    ):
        reader = gevent.spawn(_watch_live, url) if is_watched else None
        marks = [_cpu_at(site, process, share * pages) for share in (0.2, 0.9)]
        if reader is not None:
            reader.kill()
    return (marks[1] - marks[0]) / (0.7 * pages) * 1e6


def _watch_live(url: str) -> None:
    connection, answer = _open(url, "", f"{urlsplit(url).path}events")
    with closing(connection):
        _read_all(answer)


def _cpu_at(site: LoopbackSite, process: subprocess.Popen[bytes], number: float) -> float:
    with gevent.Timeout(_LONGEST, BenchError("the crawl is too slow")):
        while len(site.requests) < number:
            gevent.sleep(0.005)
    return _cpu(process.pid)
