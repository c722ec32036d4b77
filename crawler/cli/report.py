"""The final report: the outcomes of all URLs, the speed, and the bottleneck."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from .._words import counted
from ..errors import CrawlerError
from ..feed import Feed, Stdout
from ..frontier import HostFigures
from ..report.bottleneck import NOTHING, Bottleneck
from ..report.progress import Progress
from ..report.reasons import explain_end
from ..scheduler import Summary
from .text import listed, printable, printable_lines, size, total

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


def report_rows(summary: Summary, reason: str, progress: Progress, feeds: Iterable[Feed]) -> Rows:
    limit = _bottleneck(*progress.bottlenecks.longest)
    ended = explain_end(reason)
    rows = [("ended", ended)] if ended else []
    rows += _outcomes(summary) + error_rows(summary.error_lines)
    rows += _speed(summary) + limit + _slow(progress.slowest_hosts)
    return rows + [("records", _written(feed)) for feed in feeds]


def error_rows(lines: Iterable[object]) -> list[tuple[str, str]]:
    """Return a row for each line of code with errors."""
    return [("" if number else "errors at", str(line)) for number, line in enumerate(lines)]


def print_rows(console: Console, rows: Rows) -> None:
    for label, text in rows:
        console.print(Text.assemble((f"{label:<14}", "bold"), printable(text)))


def print_errors(console: Console, errors: Sequence[CrawlerError], *, verbose: bool) -> None:
    """Print the first few *errors*, with their tracebacks if *verbose*."""
    for error in errors[:_SAMPLES]:
        console.print(Text(_error_text(error, verbose=verbose)))
    if len(errors) > _SAMPLES:
        console.print(f"  … and {counted(len(errors) - _SAMPLES, 'more error')}")


def _outcomes(summary: Summary) -> list[tuple[str, str]]:
    urls = summary.urls
    rows = [("pages", f"{urls.done} done, {total(urls.failed)} failed, {urls.pending} pending")]
    named = {"failed": urls.failed, "refused": urls.refused, "turned away": urls.turned_away}
    for label, counts in named.items():
        if counts:
            rows.append((label, listed(counts)))
            rows += [
                ("", f"  {reason}: {summary.samples[reason][0]}")
                for reason in counts
                if reason != "seen" and reason in summary.samples
            ]
    codes = {str(code): n for code, n in summary.status_codes.items()}
    return [*rows, ("status codes", listed(codes))] if codes else rows


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
    return f"{feed.written} {place}"


def _error_text(error: CrawlerError, *, verbose: bool) -> str:
    if not verbose:
        return f"  {printable(error)}"
    return printable_lines("".join(traceback.format_exception(error)).rstrip())
