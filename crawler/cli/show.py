"""What a person sees of a crawl: live progress, then a report."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext

import click
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from ..errors import CrawlerError, Refused
from ..feed import JsonLines
from ..scheduler import Monitor, Scheduler, Summary

#: Errors shown in the report; the rest are counted.
_SAMPLES = 5


def run_and_report(
    scheduler: Scheduler, urls: Iterable[str], feed: JsonLines, *, as_json: bool
) -> int:
    """Crawl from *urls* to the end, or until interrupted; return the exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    errors: list[CrawlerError] = []
    try:
        scheduler.start(urls)
    except Refused as error:
        click.echo(f"crawler: {error}", err=True)
        return 4
    interrupted = _watch(scheduler, errors)
    summary = scheduler.summary()
    if as_json:
        click.echo(str(summary))
    else:
        _report(summary, errors, feed)
    return 3 if interrupted else int(bool(summary.urls.failed))


def _watch(scheduler: Scheduler, errors: list[CrawlerError]) -> bool:
    """Show progress until the crawl has ended; say if the user ended it."""
    console = Console(stderr=True)
    live = Live(console=console, transient=True, auto_refresh=False)
    display: AbstractContextManager[object] = live if console.is_terminal else nullcontext()

    def show(summary: Summary) -> None:
        if console.is_terminal:
            live.update(_progress(summary), refresh=True)
        else:
            click.echo(_progress(summary).plain, err=True)

    interval = 0.25 if console.is_terminal else 2.0
    with display:
        monitor = Monitor(scheduler, on_summary=show, on_error=errors.append, interval=interval)
        try:
            monitor.join()
        except KeyboardInterrupt:
            click.echo("stopping: finishing what is in flight (Ctrl-C again to drop it)", err=True)
            scheduler.stop()
            monitor.join(1)
            return True
    return False


def _progress(summary: Summary) -> Text:
    urls = summary.urls
    return Text(
        f"{summary.rate:7.1f} pages/s  {urls.done:6} done  {_total(urls.failed):4} failed  "
        f"{urls.pending:6} pending  {_size(summary.bytes)}  {_patience(summary)}"
    )


def _patience(summary: Summary) -> str:
    """Say what a crawl waits for, if it is for more than a moment."""
    return f"waiting for {summary.waiting_for}" if (summary.next_wake or 0) > 2 else ""


def _report(summary: Summary, errors: list[CrawlerError], feed: JsonLines) -> None:
    urls, latency = summary.urls, summary.latency
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    table.add_row(
        "pages", f"{urls.done} done, {_total(urls.failed)} failed, {urls.pending} pending"
    )
    for label, reasons in (
        ("failed", urls.failed),
        ("refused", urls.refused),
        ("turned away", urls.turned_away),
        ("status codes", {str(code): n for code, n in summary.status_codes.items()}),
    ):
        if reasons:
            table.add_row(label, ", ".join(f"{reason} {n}" for reason, n in reasons.items()))
    table.add_row(
        "fetched", f"{_size(summary.bytes)} in {summary.elapsed:.1f} s, {summary.rate:.0f} pages/s"
    )
    table.add_row("latency", f"p50 {latency.p50 * 1000:.0f} ms, p99 {latency.p99 * 1000:.0f} ms")
    table.add_row("records", Text(f"{feed.written} in {feed.path}"))
    if not summary.request_args["robots"]:
        table.add_row("robots.txt", "was not asked for (--no-robots)")
    console = Console(soft_wrap=True)
    console.print(table)
    for error in errors[:_SAMPLES]:
        console.print(Text(f"  {error}"))
    if len(errors) > _SAMPLES:
        console.print(f"  … and {len(errors) - _SAMPLES} more errors")


def _total(reasons: Mapping[str, int]) -> int:
    return sum(reasons.values())


def _size(number: float) -> str:
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} GB"
