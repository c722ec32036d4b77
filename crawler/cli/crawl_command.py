"""A crawl as a command runs it: watched, ended by Ctrl-C, and reported."""

from __future__ import annotations

import json
import os
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import click
import gevent
from gevent.pool import Group

from ..compose import CrawlResult, stream
from ..errors import Refused
from ..feed import Feed, OutputClosed, Stdout
from ..job.directory import Job
from ..report.gates import Gate, checked_report, write_report
from ..report.progress import Watch
from ..scheduler import Summary
from ..settings import Settings
from ..spider import Spider
from .interrupts import AT_ONCE, Interrupts
from .live_view import Screen, View, view_on
from .options import Ending, gates_of, is_verbose, open_feeds, open_job
from .report import Rows, print_errors, print_rows, report_rows, to_dict
from .resume_notice import say_recovered
from .text import printable

#: Seconds between two looks at a crawl.
_INTERVAL = 0.25


def crawl_and_exit(
    spider: Spider, settings: Settings, ending: Ending, *, name: str, records: str
) -> NoReturn:
    """
    Crawl *spider* in its job directory and end the program.

    The job is called *name* if it is given no directory; the items go to the file *records*
    in there if they are given no other place, or to stdout if that is "-".
    """
    gates = gates_of(ending.conditions, ending.min_items)
    if ending.report is not None:
        checked_report(ending.report)
    with open_job(ending, name) as job:
        feeds = open_feeds(job, ending, records if records == "-" else str(job.path / records))
        if ending.warc is not None:
            job.open_archive(ending.warc)
        code = run_and_report(
            spider,
            job,
            feeds,
            as_json=ending.as_json,
            gates=gates,
            report=ending.report,
            settings=settings,
        )
    sys.exit(code)


def run_and_report(
    spider: Spider,
    job: Job,
    feeds: Sequence[Feed],
    *,
    settings: Settings,
    as_json: bool,
    gates: Sequence[Gate] = (),
    report: Path | None = None,
) -> int:
    """Crawl *spider* to the end, or until interrupted; return the exit code."""
    job.on_stuck = job.journal.marks.end_process
    at_once = [feed for feed in feeds if feed not in job.outputs.feeds]
    with Interrupts() as interrupts:
        try:
            result = stream(spider, feeds=at_once, settings=settings, job=job)
        except Refused as error:
            click.echo(f"crawler: {printable(error)}", err=True)
            return 4
        say_recovered(job, result.summary.urls.pending)
        watch = Watch(result.scheduler, settings.budget)
        _follow(result, watch, feeds, interrupts)
        summary, told = result.summary, to_dict(result.summary, watch)
        rows = report_rows(summary, watch, feeds)
        if result.failure is None:
            job.note(
                "report", {"rows": rows, "summary": told, "commits": job.journal.store.commits + 1}
            )
        if as_json:
            click.echo(json.dumps(told, indent=4))
        else:
            _print(rows, feeds, result)
    if result.failure is not None:
        click.echo(f"crawler: {printable(result.failure)}", err=True)
    if report is not None:
        write_report(report, summary, gates)
    code = AT_ONCE if interrupts.second.is_set() else result.exit_code
    return _judged(code, gates, summary)


def _judged(code: int, gates: Sequence[Gate], summary: Summary) -> int:
    """Return the exit code, which a gate that is not met changes if the crawl came to its end."""
    failures = [failure for gate in gates if (failure := gate.failure(summary))]
    for failure in failures:
        click.echo(f"crawler: quality gate not met: {failure}", err=True)
    return 5 if failures and code in (0, 1) else code


def _print(rows: Rows, feeds: Sequence[Feed], result: CrawlResult) -> None:
    # What is on stdout is data, when the records go there.
    console = Screen(soft_wrap=True, stderr=_to_stdout(feeds))
    print_rows(console, rows)
    print_errors(console, result.errors, verbose=is_verbose())


def _to_stdout(feeds: Sequence[Feed]) -> bool:
    return any(isinstance(feed, Stdout) for feed in feeds)


def _follow(
    result: CrawlResult, watch: Watch, feeds: Sequence[Feed], interrupts: Interrupts
) -> None:
    """Show a crawl until it has ended: by itself, by Ctrl-C, or because nobody reads on."""
    beside = Group()
    # Items that go to a terminal themselves would run into a view that is drawn in place.
    among_items = _to_stdout(feeds) and os.isatty(1)
    with view_on(Screen(stderr=True), in_place=not among_items) as view:
        beside.spawn(_look, watch, view, feeds)
        beside.spawn(_stop_if_unread, result)
        items = gevent.spawn(deque, result, maxlen=0)
        try:
            _wait(result, view, interrupts)
            items.join()
        finally:
            beside.kill()
        if interrupts.first.is_set():
            view.say(f"stopped: {_what_is_left(result.summary)}")


def _wait(result: CrawlResult, view: View, interrupts: Interrupts) -> None:
    ended: Any = gevent.spawn(result.wait)
    gevent.wait([ended, interrupts.first], count=1)
    interrupts.heard()
    if not ended.ready():
        view.say("stopping: finishing what is in flight (Ctrl-C again to drop it)")
        stopping = gevent.spawn(result.stop)
        gevent.wait([ended, interrupts.second], count=1)
        # Whoever stops a scheduler waits for what is in flight; ended early, it cancels that.
        stopping.kill()
    ended.get()


def _what_is_left(summary: Summary) -> str:
    pending = summary.urls.pending
    return f"{pending} pages are left; the same command goes on" if pending else "nothing is left"


def _look(watch: Watch, view: View, feeds: Sequence[Feed]) -> None:
    while True:
        gevent.sleep(_INTERVAL)
        view.show(watch.look())
        # What keeps a file from being written comes up again with the next item, or its end.
        with suppress(OSError, OutputClosed):
            for feed in feeds:
                if not feed.closed:
                    feed.flush()


def _stop_if_unread(result: CrawlResult) -> None:
    """End the crawl when the pipe its items go to has been closed."""
    for error in result.scheduler.error_chan():
        if isinstance(error.__cause__, OutputClosed):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            gevent.spawn(result.stop, 0)
            return
