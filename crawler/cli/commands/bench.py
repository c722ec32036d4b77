"""``crawler bench``: what a crawl and its parts cost, on this machine."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..options import json_option

if TYPE_CHECKING:
    from ...bench.measuring.report import Report

F = TypeVar("F", bound=Callable[..., Any])


@click.group()
def bench() -> None:
    """Measure what a crawl and its parts cost, beside what else there is.

    Servers and what is measured have processes of their own, each on a core of its own where
    there are two; repeats are interleaved. Results are kept for `crawler bench history`. The exit
    code is 6 if a row failed or the result could not be kept: the others are printed all the same.
    """
    # What was started is ended and what was made is removed, as by Ctrl-C.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end_at_once)


def _end_at_once(number: int, _frame: object) -> None:
    sys.exit(128 + number)


def _history_option(check: Callable[..., Path] | None = None) -> Callable[[F], F]:
    return click.option(
        "--history",
        type=click.Path(dir_okay=False, path_type=Path),
        default=_default_history,
        show_default="crawler/bench-history.jsonl in XDG_DATA_HOME",
        callback=check,
        help="The file of results.",
    )


def _default_history() -> Path:
    from ...bench.measuring.history import default_path

    return default_path()


def _writable(_context: click.Context, _parameter: click.Parameter, path: Path) -> Path:
    """Refuse, before anything is measured, a file that no result could be kept in."""
    from ...bench.measuring.history import prepare

    try:
        prepare(path)
    except OSError as error:
        raise click.UsageError(_not_kept(error)) from None
    return path


def _not_kept(error: OSError) -> str:
    return f"the result cannot be kept: {error}; --history names another file"


def _run_options(command: F) -> F:
    """Add what every measurement has."""
    command = _history_option(_writable)(json_option(command))
    return click.option("--quick", is_flag=True, help="Small numbers: less than a minute.")(command)


def _count(name: str, usual: int, text: str) -> Callable[[F], F]:
    """Add an option whose default depends on --quick."""
    return click.option(name, type=click.IntRange(1), help=f"{text}  [default: {usual:,}]")


_hosts_option = click.option(
    "--hosts", type=click.IntRange(1), default=1, help="Hosts they are spread over."
)


@bench.command()
@_count("--pages", 20_000, "How many pages the site has.")
@_count("--repeats", 3, "How often to crawl it.")
@click.option(
    "--size", type=click.IntRange(1), default=13_000, show_default=True, help="Bytes of a page."
)
@click.option(
    "--links", type=int, default=71, show_default=True, help="Links of a page, 31 at least."
)
@_hosts_option
@click.option("--concurrency", type=click.IntRange(1), default=64, show_default=True)
@click.option("--peers", default="", metavar="NAMES", help="Measure these too: scrapy,crawlee.")
@_run_options
def crawl(
    pages: int | None,
    repeats: int | None,
    size: int,
    links: int,
    hosts: int,
    concurrency: int,
    peers: str,
    quick: bool,
    **ending: Any,
) -> None:
    """Crawl a site with our crawl, a bare loop, and other frameworks.

    The bare loop, libcurl and a parser without a framework, is the limit. Other frameworks
    come with the extra: pip install 'crawler[bench]'. Tuned means, for Scrapy: links by lxml, a
    set of its own before a request is made, and a log of INFO; for Crawlee: a set of its own, and
    no pool of sessions. As documented, Crawlee enqueues all the links of a page.
    """
    from ...bench import crawl as subject
    from ...bench.sites.shape import Shape

    try:
        others = subject.peers(name.strip() for name in peers.split(",") if name.strip())
        number = pages or (2000 if quick else 20_000)
        shape = Shape(number, size, links, hosts, absolute=hosts > 1)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    times = repeats or (1 if quick else 3)
    report = subject.run(shape, concurrency=concurrency, repeats=times, others=others, told=_tell)
    _end(report, subject.show(report), **ending)


@bench.command()
@_count("--repeats", 3, "How often to crawl each site.")
@_run_options
def scale(repeats: int | None, quick: bool, **ending: Any) -> None:
    """Crawl small sites and large ones, on one host and many; and tell how memory grows."""
    from ...bench import scale as subject

    sizes = subject.QUICK if quick else subject.SIZES
    report = subject.run(sizes, repeats or (1 if quick else 3), _tell)
    _end(report, subject.show(report), **ending)


@bench.command()
@_count("--pages", 20_000, "How many pages the site has.")
@_hosts_option
@click.option("--concurrency", type=click.IntRange(1), default=64, show_default=True)
@click.option(
    "--functions", type=click.IntRange(0), default=40, show_default=True, help="How many to show."
)
@_run_options
def profile(
    pages: int | None, hosts: int, concurrency: int, functions: int, quick: bool, **ending: Any
) -> None:
    """Crawl a site and tell where the CPU went, by stage and by function."""
    from ...bench import profile as subject
    from ...bench.sites.shape import Shape

    try:
        shape = Shape(pages or (2000 if quick else 20_000), hosts=hosts, absolute=hosts > 1)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    report = subject.run(shape, concurrency=concurrency)
    _end(report, subject.show(report, functions), **ending)


@bench.command()
@_count("--requests", 10_000, "How many pages to fetch.")
@_count("--repeats", 5, "How often to fetch them.")
@_run_options
def fetch(requests: int | None, repeats: int | None, quick: bool, **ending: Any) -> None:
    """Fetch through libcurl alone, and through what we put around it."""
    from ...bench.parts import fetch as subject

    numbers = (requests or (2000 if quick else 10_000), repeats or (1 if quick else 5))
    report = subject.run(*numbers, _tell)
    _end(report, subject.show(report), **ending)


@bench.command()
@_count("--pages", 500, "How many pages to look through.")
@_count("--repeats", 5, "How often to do so.")
@_run_options
def links(pages: int | None, repeats: int | None, quick: bool, **ending: Any) -> None:
    """Parse pages and find their links, our way and by hand."""
    from ...bench.parts import links as subject

    report = subject.run(pages or (100 if quick else 500), repeats or (3 if quick else 5))
    _end(report, subject.show(report), **ending)


@bench.command()
@_count("--number", 100_000, "How many data to put and get.")
@_count("--repeats", 5, "How often to do so.")
@_run_options
def pool(number: int | None, repeats: int | None, quick: bool, **ending: Any) -> None:
    """Put data into a pool and get them out again."""
    from ...bench.parts import pool as subject

    report = subject.run(number or (20_000 if quick else 100_000), repeats or 5)
    _end(report, subject.show(report), **ending)


@bench.command()
@_count("--repeats", 3, "How often to measure each row.")
@click.option("--scale", type=float, help="Part of all numbers, from 0.001 to 1.")
@_run_options
def frontier(repeats: int | None, scale: float | None, quick: bool, **ending: Any) -> None:
    """Admit, take and settle requests, from ten hosts to a hundred thousand."""
    from ...bench.parts import frontier as subject

    usual = 0.05 if quick else 1.0
    numbers = (usual if scale is None else scale, repeats or (1 if quick else 3))
    report = subject.run(*numbers, _tell)
    _end(report, subject.show(report), **ending)


@bench.command()
@_count("--pages", 1000, "How many pages the site has.")
@_count("--repeats", 3, "How often to crawl it.")
@_run_options
def analyzers(pages: int | None, repeats: int | None, quick: bool, **ending: Any) -> None:
    """Parse large pages with XPath, in this process and in two of their own."""
    from ...bench.parts import analyzers as subject

    numbers = (pages or (100 if quick else 1000), repeats or (1 if quick else 3))
    report = subject.run(*numbers, _tell)
    _end(report, subject.show(report), **ending)


@bench.command()
@_count("--kills", 300, "How often to kill.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the moments.")
@_run_options
def kill(kills: int | None, seed: int, quick: bool, **ending: Any) -> None:
    """Kill a crawl at random moments, go on with it, and count what is lost.

    The site has 400 pages. Each crawl writes JSON Lines, CSV, SQLite, Parquet and WARC in a job
    directory; some kills are aimed at start-up, recovery, checkpoints and shutdown. The exit code
    is 5 if a target does not hold: a page is lost, a record is there twice.
    """
    from ...bench.kill import kills as subject

    report = subject.run(kills or (10 if quick else 300), seed=seed, told=_tell)
    _end(report, subject.show(report), **ending)
    if not all(target.holds for target in report.targets):
        sys.exit(5)


@bench.command()
@click.option("--last", type=click.IntRange(1), default=8, show_default=True, help="Runs to show.")
@_history_option()
@json_option
def history(last: int, history: Path, as_json: bool) -> None:
    """Show the results of earlier runs, and how the last differs from the others.

    Runs of the same size are compared; a change of less than a fifth is not told from noise.
    """
    from ...bench.measuring import history as subject

    trends = subject.trends(history)
    if as_json:
        click.echo(json.dumps([vars(trend) | {"change": trend.change} for trend in trends]))
    else:
        click.echo(subject.show(trends, last) if trends else "nothing was measured yet")


@bench.command(hidden=True)
@click.argument("text")
def child(text: str) -> None:
    """Be measured, in a process of its own."""
    from ...bench.measuring.child import work

    work(text)


def _tell(what: str) -> None:
    """Show what goes on, on a terminal, in a line that is overwritten if it can be."""
    if not sys.stderr.isatty():
        return
    if os.environ.get("TERM") != "dumb":
        click.echo(f"\r\033[K{what}", err=True, nl=False)
    elif what:
        click.echo(what, err=True)


def _end(report: Report, shown: str, *, history: Path, as_json: bool) -> None:
    """Print the report before anything can go wrong with keeping it."""
    from ...bench.measuring.child import BenchError
    from ...bench.measuring.history import append

    _tell("")
    click.echo(json.dumps(report.as_dict()) if as_json else shown)
    wrong = list(report.failures)
    try:
        append(history, report)
    except OSError as error:
        wrong.append(_not_kept(error))
    if wrong:
        raise BenchError("; ".join(wrong))
