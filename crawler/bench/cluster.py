"""
What a cluster costs: CPU a page against one process with a job, and what its server has to do.

    crawler bench cluster --schedulers 1,2

The server, the schedulers and the collector run on this machine, with the server of the site. Memory is that of all keys of the
job when all is collected.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import gevent

from ..cluster.embedded_server import EmbeddedServer
from ..cluster.job_record import SHARDS_EACH, control_job, create_job, read_job
from ..cluster.redis import connect
from ..cluster.status import job_status
from .crawl import OURS, crawled
from .measuring.child import SERVER, BenchError, Child, pin
from .measuring.report import Report, Samples, Target, ratio, spread, table, text, times
from .measuring.rounds import interleaved
from .sites.served_site import ServedSite, served
from .sites.shape import Shape

#: The row that the others are compared with, and the one of a cluster without work.
ONE, IDLE = "one process with a job", "1 scheduler, paused"
#: Targets: times the CPU of one process; µs of CPU, commands and bytes of the server; seconds.
MOST_TIMES, MOST_US, MOST_COMMANDS, MOST_BYTES = 1.15, 10.0, 0.1, 60.0
MOST_FINISH, MOST_TAKEOVER, MOST_IDLE = 3.0, 15.0, 0.001
#: Of each row, what is divided by the number of pages; and how much smaller the smaller site is.
_COSTS = ("cpu_us", "collector_us", "server_us", "commands")
_SMALLER = 4
_CONCURRENCY = 64
_TIMEOUT = 900.0
_IDLE_SECONDS = 10.0
#: The commands that only clients send: what runs inside scripts is counted by the server as well.
_SENT = ("evalsha", "eval", "xread", "lindex", "blpop")
_TARGET = "crawler.bench.contenders.cluster_crawl"
_JOB = "bench"


def run(
    schedulers: Sequence[int],
    pages: int,
    hosts: int,
    repeats: int,
    show_progress: Callable[[str], object] = lambda _: None,
) -> Report:
    """Crawl a site by one process and by clusters, interleaved; then see what waiting costs."""
    names = {f"{number} scheduler{'s' * (number > 1)}": number for number in schedulers}
    small = Shape(max(1, pages // _SMALLER), hosts=max(1, hosts // _SMALLER), absolute=True)
    with served(small) as start, served(Shape(pages, hosts=hosts, absolute=True)) as site:
        rows, failures = interleaved(
            [ONE, *names],
            repeats,
            lambda name: _sample(start, site, names.get(name)),
            show_progress,
        )
        show_progress(IDLE)
        rows[IDLE] = {what: [value] for what, value in _without_work(site.shape.url(0)).items()}
        setting = {"pages": pages, "hosts": hosts, "server": site.server}
    return Report("cluster", setting, rows, _targets(rows, [*names]), (), failures)


def _sample(start: ServedSite, site: ServedSite, schedulers: int | None) -> dict[str, float]:
    """
    Crawl two sites that differ in size only; return what a page more costs.

    So what a process needs to begin and to end does not count, however few pages there are.
    """
    few, many = (_crawl(one, schedulers) if schedulers else _one(one) for one in (start, site))
    more = many["pages"] - few["pages"]
    costs = {name: (many.pop(name) - few[name]) / more for name in _COSTS if name in many}
    return costs | many


def _one(site: ServedSite) -> dict[str, float]:
    found = crawled(site, OURS, _CONCURRENCY)
    return {
        "pages": found["pages"],
        "cpu_us": found["cpu"] * 1e6,
        "pages_per_second": found["pages"] / found["seconds"],
        "rss_mb": found["rss"],
    }


def _crawl(site: ServedSite, schedulers: int) -> dict[str, float]:
    """Crawl *site* with so many schedulers; return the costs of all pages, and of a URL in memory."""
    with TemporaryDirectory(prefix="crawler-bench-") as folder, EmbeddedServer(folder) as server:
        create_job(server.url, _JOB, {}, shards=schedulers * SHARDS_EACH)
        where = {"redis": server.url, "name": _JOB}
        pin(SERVER, server.pid or 0)
        site.counts()
        before = _server_cost(server.url)
        crawling = [_child("work", where | {"url": site.shape.url(0)}) for _ in range(schedulers)]
        running = [gevent.spawn(one.run, _TIMEOUT) for one in crawling]
        measured: list[dict[str, Any]] = [one.get() for one in running]
        # Behind them: what keeps the other core busy as well makes their own work cost more.
        collected: dict[str, Any] = _child("collect", where).run(_TIMEOUT)
        after = _server_cost(server.url)
        found, _ = site.counts()
        if found != site.shape.pages:
            raise BenchError(f"{found} of {site.shape.pages} pages were fetched")
        last = _last_commit(server.url)
        stored = _bytes(server.url) / job_status(server.url, _JOB)["urls"]["admitted"]
    seconds = max(one["seconds"] for one in measured)
    return {
        "pages": found,
        "cpu_us": sum(one["cpu"] for one in measured) * 1e6,
        "pages_per_second": found / seconds,
        "rss_mb": max(one["rss"] for one in measured),
        "collector_us": collected["cpu"] * 1e6,
        "server_us": (after["cpu"] - before["cpu"]) * 1e6,
        "commands": after["commands"] - before["commands"],
        "bytes": stored,
        "finish_s": max(one["ended"] for one in measured) - last,
    }


def _without_work(url: str) -> dict[str, float]:
    """Return what a scheduler takes that waits, and how long it takes to have the shards of a dead one."""
    with TemporaryDirectory(prefix="crawler-bench-") as folder, EmbeddedServer(folder) as server:
        create_job(server.url, _JOB, {})
        control_job(server.url, _JOB, "pause")
        where = {"url": url, "redis": server.url, "name": _JOB}
        found = _child("idle", where | {"seconds": _IDLE_SECONDS}).run(_TIMEOUT)
        with subprocess.Popen(
            _child("hold", where).command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as dying:
            while job_status(server.url, _JOB)["free_shards"]:
                gevent.sleep(0.1)
            taking = gevent.spawn(_child("take_over", where).run, _TIMEOUT)
            while len(job_status(server.url, _JOB)["schedulers"]) < 2:
                gevent.sleep(0.1)
            os.kill(dying.pid, signal.SIGKILL)
            killed = time.time()
            ended: dict[str, Any] = taking.get()
    return {"idle": found["idle"], "takeover_s": ended["ended"] - killed}


def _child(function: str, arguments: dict[str, Any], core: int = 0) -> Child:
    return Child(f"{_TARGET}:{function}", arguments, core=core)


def _server_cost(url: str) -> dict[str, float]:
    with closing(connect(url)) as client:
        used, called = client.info("cpu"), client.info("commandstats")
    return {
        "cpu": used["used_cpu_sys"] + used["used_cpu_user"],
        "commands": sum(called.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in _SENT),
    }


def _bytes(url: str) -> int:
    """Return what all keys of the job take in memory: not an estimate from a few entries of each."""
    with closing(connect(url)) as client:
        sizes = [client.memory_usage(key, samples=0) for key in read_job(url, _JOB).keys.all]
    return sum(size or 0 for size in sizes)


def _last_commit(url: str) -> float:
    """Return when the last commit was made, by the clock of this machine."""
    with closing(connect(url)) as client:
        [(entry, _)] = client.xrevrange(f"crawler:{{{_JOB}}}:log", count=1)
    return int(entry.split(b"-")[0]) / 1000


def _targets(rows: dict[str, Samples], names: Sequence[str]) -> list[Target]:
    found, one = [], rows.get(ONE)
    for name in names:
        row = rows.get(name)
        if row is None or one is None:
            continue
        cpu = median(times(row["cpu_us"], one["cpu_us"]))
        found += [
            Target(f"CPU a page of {name} ÷ one process", cpu, MOST_TIMES),
            Target(f"µs of the server's CPU a page, {name}", median(row["server_us"]), MOST_US),
            Target(f"commands a page, {name}", median(row["commands"]), MOST_COMMANDS),
            Target(f"bytes in the server a URL, {name}", median(row["bytes"]), MOST_BYTES),
            Target(
                f"seconds from the last commit to the end, {name}",
                max(row["finish_s"]),
                MOST_FINISH,
            ),
        ]
    waits = rows[IDLE]
    return [
        *found,
        Target(
            "seconds until the shards of a dead scheduler are claimed",
            waits["takeover_s"][0],
            MOST_TAKEOVER,
        ),
        Target("share of a core that waiting takes", waits["idle"][0], MOST_IDLE),
    ]


def show(report: Report) -> str:
    one = report.rows.get(ONE)
    measures = ("cpu_us", "pages_per_second", "collector_us", "server_us")
    head = ("", "× CPU", "µs a page", "pages/s", "collector µs", "server µs", "commands", "bytes")
    rows = [
        (
            name,
            ratio(samples, one, "cpu_us"),
            *(spread(samples.get(measure, [])) for measure in measures),
            spread(samples.get("commands", []), 3),
            spread(samples.get("bytes", [])),
        )
        for name, samples in report.rows.items()
        if name != IDLE
    ]
    return text(report, f"{report.setting['pages']} pages\n{table(head, rows)}")
