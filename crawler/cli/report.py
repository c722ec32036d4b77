"""The final report: the outcomes of all URLs, the speed, and the bottleneck."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.text import Text

from .._words import counted
from ..errors import CrawlerError
from ..feed import Feed, Stdout
from ..frontier import HostFigures, UrlCounts
from ..report.bottleneck import NOTHING, Bottleneck
from ..report.progress import Progress
from ..report.queue_figures import QueueFigures
from ..report.reasons import explain_end
from ..report.text import listed, printable, printable_lines, size, total
from ..result import CrawlResult
from ..scheduler import Summary
from ..scheduler.summary import ItemCounts

#: The number of errors that are printed; the rest are counted.
_SAMPLES = 5

#: Pairs of a label and a text; a row without a label belongs to the one before.
Rows = Sequence[tuple[str, str]]


def to_dict(summary: Summary, reason: str, progress: Progress) -> dict[str, Any]:
    """Return the summary with the *reason* of the end, the bottleneck and the slowest hosts."""
    bottleneck, share = progress.bottlenecks.longest
    limited = {"limit": bottleneck.name, "setting": bottleneck.setting, "share": round(share, 3)}
    slow = {row.host: round(row.latency, 4) for row in progress.slowest_hosts}
    return summary.to_dict() | {"reason": reason, "limited_by": limited, "slowest_hosts": slow}


def history_of(progress: Progress) -> dict[str, Any]:
    """Return what the page of a finished job shows beside its summary, as JSON values."""
    bottleneck, share = progress.bottlenecks.longest
    what = "" if bottleneck is NOTHING else f"{bottleneck.what}, {share:.0%} of the time"
    return {
        "limit": {"what": what, "remedy": bottleneck.remedy},
        "hosts": [asdict(row) for row in progress.slowest_hosts],
        "history": progress.history.to_list(),
    }


def report_rows(summary: Summary, reason: str, progress: Progress, feeds: Iterable[Feed]) -> Rows:
    limit = _bottleneck(*progress.bottlenecks.longest)
    ended = explain_end(reason)
    rows = [("ended", ended)] if ended else []
    rows += _outcomes(summary) + _lost_items(summary.items) + error_rows(summary.error_lines)
    rows += _speed(summary) + limit + _slow(progress.slowest_hosts)
    return rows + [("records", _written(feed)) for feed in feeds]


def retry_row(urls: UrlCounts) -> Rows:
    """Return a row that says how to fetch the failed pages again, if there are some."""
    failed = total(urls.failed)
    pages = counted(failed, "failed page")
    return (
        [("to retry", f"the same command with --retry-failed fetches {pages} again")]
        if failed
        else []
    )


def error_rows(lines: Iterable[object]) -> list[tuple[str, str]]:
    """Return a row for each line of code with errors."""
    return [("" if number else "errors at", str(line)) for number, line in enumerate(lines)]


def print_rows(console: Console, rows: Rows) -> None:
    for label, text in rows:
        console.print(Text.assemble((f"{label:<14}", "bold"), printable(text)))


def print_errors(console: Console, result: CrawlResult, *, verbose: bool) -> None:
    """Print the first few errors of *result*, with their tracebacks if *verbose*."""
    for error in result.errors[:_SAMPLES]:
        console.print(Text(_error_text(error, verbose=verbose)))
    others = result.summary.errors.reported - _SAMPLES
    if others > 0:
        console.print(f"  … and {counted(others, 'more error')}")


def _outcomes(summary: Summary) -> list[tuple[str, str]]:
    urls, queue = summary.urls, QueueFigures.of(summary.urls)
    rows = [("pages", f"{queue.success} done, {queue.failed} failed, {queue.left} pending")]
    named = {"failed": urls.failed, "refused": urls.refused, "turned away": urls.turned_away}
    # A reason has one sample, whatever its outcome.
    samples = {reason: some[0] for reason, some in summary.samples.items() if reason != "seen"}
    for label, counts in named.items():
        if counts:
            rows.append((label, listed(counts)))
            shown = [reason for reason in counts if reason in samples]
            rows += [("", f"  {reason}: {samples.pop(reason)}") for reason in shown]
    codes = {str(code): n for code, n in summary.status_codes.items()}
    if codes:
        rows.append(("status codes", listed(codes)))
    if bad := summary.unsuccessful_starts:
        what = counted(bad, "start page", "was")
        rows.append(("", f"  {what} answered with a status of 400 or more: the exit code is 1"))
    return rows


def _lost_items(items: ItemCounts) -> list[tuple[str, str]]:
    """Return a row if some items did not reach the outputs."""
    if not (items.dropped or items.failed):
        return []
    return [("items", f"{items.found} found, {items.dropped} dropped, {items.failed} failed")]


def _speed(summary: Summary) -> list[tuple[str, str]]:
    latency = summary.latency
    rows = [("retried", str(summary.retried))] if summary.retried else []
    if not summary.request_args["robots"]:
        rows.append(("robots.txt", "was ignored"))
    volume = f"{size(summary.bytes)} in {summary.elapsed:.1f} s, {summary.rate:.0f} pages/s"
    parts = ((name, getattr(latency, name)) for name in ("p50", "p90", "p99"))
    quantiles = ", ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in parts)
    return [*rows, ("fetched", volume), ("latency", quantiles)]


def _bottleneck(bottleneck: Bottleneck, share: float) -> list[tuple[str, str]]:
    if bottleneck is NOTHING:
        return []
    remedy = f": {bottleneck.remedy}" if bottleneck.remedy else ""
    return [("limited by", f"{bottleneck.what}, {share:.0%} of the time{remedy}")]


def _slow(hosts: Sequence[HostFigures]) -> list[tuple[str, str]]:
    if len(hosts) < 2:
        return []
    return [("slowest", ", ".join(f"{row.host} {row.latency * 1000:.0f} ms" for row in hosts))]


def _written(feed: Feed) -> str:
    place = "on stdout" if isinstance(feed, Stdout) else f"in {feed.path}"
    unwritten = f", {feed.unwritten} could not be written" if feed.unwritten else ""
    return f"{feed.written} {place}{unwritten}"


def _error_text(error: CrawlerError, *, verbose: bool) -> str:
    if not verbose:
        return f"  {printable(error)}"
    return printable_lines("".join(traceback.format_exception(error)).rstrip())
