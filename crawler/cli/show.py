"""What a person sees of a crawl: live progress, then a report."""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import click
import gevent
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ..crawl import CrawlResult, stream
from ..errors import CrawlerError, Refused
from ..feed import Feed, OutputClosed, Stdout
from ..scheduler import Monitor, Summary
from ..settings import Settings
from ..spider import Spider
from .gates import Gate, write_report
from .options import Ending, archived, gates_of, open_feeds

#: Errors shown in the report; the rest are counted.
_SAMPLES = 5


def crawl_and_exit(
    spider: Spider, settings: Settings, ending: Ending, *, default: Callable[[], str]
) -> NoReturn:
    """Crawl *spider* and end the program; items go to the *default* if no other place was named."""
    gates = gates_of(ending.conditions, ending.min_items)
    with ExitStack() as stack:
        feeds = open_feeds(stack, ending.append_to, ending.write_to)
        code = run_and_report(
            spider,
            feeds or open_feeds(stack, (), [default()]),
            as_json=ending.as_json,
            gates=gates,
            report=ending.report,
            settings=settings,
            **archived(stack, ending.warc, settings),
        )
    sys.exit(code)


def run_and_report(
    spider: Spider,
    feeds: Sequence[Feed],
    *,
    as_json: bool,
    gates: Sequence[Gate] = (),
    report: Path | None = None,
    **options: Any,
) -> int:
    """Crawl *spider* to the end, or until interrupted; return the exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        result = stream(spider, feeds=feeds, **options)
    except Refused as error:
        click.echo(f"crawler: {error}", err=True)
        return 4
    _watch(result, feeds)
    summary = result.summary
    if as_json:
        click.echo(str(summary))
    else:
        _report(summary, result, feeds)
    if report is not None:
        write_report(report, summary, gates)
    failures = [failure for gate in gates if (failure := gate.failure(summary))]
    for failure in failures:
        click.echo(f"crawler: quality gate not met: {failure}", err=True)
    return 5 if failures and result.exit_code in (0, 1) else result.exit_code


def _watch(result: CrawlResult, feeds: Sequence[Feed]) -> None:
    """Show progress until the crawl has ended: by itself, by Ctrl-C, or because nobody reads on."""
    console = Console(stderr=True)
    live = Live(console=console, transient=True, auto_refresh=False)
    display: AbstractContextManager[object] = live if console.is_terminal else nullcontext()

    def show(summary: Summary) -> None:
        for feed in feeds:
            if not feed.closed:
                feed.flush()
        if console.is_terminal:
            live.update(_progress(summary), refresh=True)
        else:
            click.echo(_progress(summary).plain, err=True)

    interval = 0.25 if console.is_terminal else 2.0
    items = gevent.spawn(deque, result, maxlen=0)
    with display:
        monitor = Monitor(
            result.scheduler,
            on_summary=show,
            on_error=partial(_stop_if_unread, result),
            interval=interval,
            auto_stop=False,
        )
        try:
            result.wait()
        except KeyboardInterrupt:
            click.echo("stopping: finishing what is in flight (Ctrl-C again to drop it)", err=True)
            result.stop()
        items.join()
        monitor.join(1)


def _stop_if_unread(result: CrawlResult, error: CrawlerError) -> None:
    """End the crawl when the pipe its items go to has been closed."""
    if isinstance(error.__cause__, OutputClosed):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        gevent.spawn(result.stop, 0)


def _progress(summary: Summary) -> Text:
    urls = summary.urls
    return Text(
        f"{summary.rate:7.1f} pages/s  {urls.done:6} done  {_total(urls.failed):4} failed  "
        f"{urls.pending:6} pending  {_size(summary.bytes)}  {_patience(summary)}".rstrip()
    )


def _patience(summary: Summary) -> str:
    """Say what a crawl waits for, if it is for more than a moment."""
    return f"waiting for {summary.waiting_for}" if (summary.next_wake or 0) > 2 else ""


def _report(summary: Summary, result: CrawlResult, feeds: Sequence[Feed]) -> None:
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    for label, text in _rows(summary):
        table.add_row(label, text)
    for feed in feeds:
        table.add_row("records", Text(f"{feed.written} in {feed.path}"))
    # What is on stdout is data, when the records go there.
    to_stdout = any(isinstance(feed, Stdout) for feed in feeds)
    console = Console(soft_wrap=True, stderr=to_stdout)
    console.print(table)
    for error in result.errors[:_SAMPLES]:
        console.print(Text(f"  {error}"))
    if len(result.errors) > _SAMPLES:
        console.print(f"  … and {len(result.errors) - _SAMPLES} more errors")


def _rows(summary: Summary) -> list[tuple[str, str]]:
    urls, latency = summary.urls, summary.latency
    rows = [("pages", f"{urls.done} done, {_total(urls.failed)} failed, {urls.pending} pending")]
    codes = {str(code): n for code, n in summary.status_codes.items()}
    named = {
        "failed": urls.failed,
        "refused": urls.refused,
        "turned away": urls.turned_away,
        "status codes": codes,
    }
    for label, counts in named.items():
        if counts:
            rows.append((label, _listed(counts)))
            rows += [
                ("", f"  {reason}: {summary.samples[reason][0]}")
                for reason in counts
                if reason != "seen" and reason in summary.samples
            ]
    if summary.retried:
        rows.append(("retried", str(summary.retried)))
    if not summary.request_args["robots"]:
        rows.append(("robots.txt", "was not asked for"))
    speed = f"{_size(summary.bytes)} in {summary.elapsed:.1f} s, {summary.rate:.0f} pages/s"
    rows.append(("fetched", speed))
    rows.append(("latency", f"p50 {latency.p50 * 1000:.0f} ms, p99 {latency.p99 * 1000:.0f} ms"))
    return rows


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} {n}" for reason, n in counts.items())


def _total(reasons: Mapping[str, int]) -> int:
    return sum(reasons.values())


def _size(number: float) -> str:
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} GB"
