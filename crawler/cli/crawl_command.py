"""A crawl as a command runs it: shown while it runs, stopped by Ctrl-C, and reported."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections import deque
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click
import gevent
from gevent.pool import Group

from .._words import counted
from ..compose import stream
from ..errors import Refused
from ..feed import Feed, OutputClosed, Stdout
from ..job.directory import Job
from ..report.gates import Gate, checked_report, write_report
from ..report.progress import Progress
from ..report.text import printable
from ..result import CrawlResult
from ..scheduler import Summary
from ..settings import Settings
from ..spider import Spider
from .crawl_progress import CrawlProgress
from .interrupts import EXIT_CODE, Interrupts
from .job_files import gates_of, open_job
from .live_page import open_live_page
from .live_view import Screen, View, view_on
from .options import CrawlOptions, is_verbose
from .report import Rows, history_of, print_errors, print_rows, report_rows, retry_row, to_dict
from .resume_notice import print_recovered
from .standard_streams import prints_to_stderr

if TYPE_CHECKING:
    from ..portal.live_page import LivePage

#: Seconds between two readings of the progress.
_INTERVAL = 0.25


def crawl_and_exit(
    spider: Spider,
    settings: Settings,
    options: CrawlOptions,
    *,
    name: str,
    records: str,
    program: str = "",
) -> NoReturn:
    """
    Crawl *spider* in its job directory and end the program.

    Without --job the job is called *name*. Without -o and -O the items go to the file *records* in
    the job directory, or to stdout if *records* is "-". *program* tells the job of one spider with
    its arguments from that of another.
    """
    gates = gates_of(options.conditions, options.min_items)
    if options.report is not None:
        checked_report(options.report)
    page = None if options.live is None else open_live_page(options.live)
    job, feeds = open_job(options, name, records, program)
    with job, page or nullcontext():
        code = run_and_report(
            spider,
            job,
            feeds,
            as_json=options.as_json,
            gates=gates,
            report=options.report,
            settings=settings,
            page=page,
            is_lasting=True,
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
    page: LivePage | None = None,
    is_lasting: bool = False,
) -> int:
    """
    Crawl *spider* to the end, or until interrupted; return the exit code.

    If the job *is_lasting*, the report says how to fetch its failed pages again.
    """
    job.on_stuck = job.journal.marks.end_process
    # The job writes to its own feeds when a page is settled; the others are written immediately.
    immediate = [feed for feed in feeds if feed not in job.outputs.feeds]
    with Interrupts() as interrupts:
        with prints_to_stderr():
            try:
                seeing = [] if page is None else [page.records]
                result = stream(spider, feeds=[*immediate, *seeing], settings=settings, job=job)
            except Refused as error:
                click.echo(f"crawler: {printable(error)}", err=True)
                return 4
            print_recovered(job, result.summary.urls.pending)
            progress = CrawlProgress(result.scheduler, settings.budget)
            if page is not None:
                page.follow(result.scheduler, progress, job=job.path, stop=interrupts.first.set)
                click.echo(f"live page: {page.url}", err=True)
            _follow(result, progress, feeds, interrupts, page)
        _report(result, progress, job, feeds, as_json=as_json, is_lasting=is_lasting)
    if result.failure is not None:
        click.echo(f"crawler: {printable(result.failure)}", err=True)
    if report is not None:
        write_report(report, result.summary, gates)
    code = EXIT_CODE if interrupts.second.is_set() else result.exit_code
    return _check_gates(code, gates, result.summary)


def _report(
    result: CrawlResult,
    progress: Progress,
    job: Job,
    feeds: Sequence[Feed],
    *,
    as_json: bool,
    is_lasting: bool,
) -> None:
    """Print the final report, and keep it in the job for `crawler report`."""
    summary = to_dict(result.summary, result.reason, progress)
    rows = report_rows(result.summary, result.reason, progress, feeds)
    if is_lasting:
        rows = [*rows, *retry_row(result.summary.urls)]
    if result.failure is None:
        commits = job.journal.store.commits + 1
        progress.history.add(result.summary)
        more = history_of(progress)
        job.note("report", {"rows": rows, "summary": summary, "commits": commits, **more})
    # If the records go to stdout, the report must not.
    if as_json:
        click.echo(json.dumps(summary, indent=4), err=_to_stdout(feeds))
    else:
        _print(rows, result, Screen(soft_wrap=True, stderr=_to_stdout(feeds)))


def _check_gates(code: int, gates: Sequence[Gate], summary: Summary) -> int:
    """Return *code*, or 5 if the crawl finished and does not meet a gate."""
    failures = [failure for gate in gates if (failure := gate.failure(summary))]
    for failure in failures:
        click.echo(f"crawler: quality gate not met: {failure}", err=True)
    return 5 if failures and code in (0, 1) else code


def _print(rows: Rows, result: CrawlResult, console: Screen) -> None:
    print_rows(console, rows)
    print_errors(console, result, verbose=is_verbose())


def _to_stdout(feeds: Sequence[Feed]) -> bool:
    return any(isinstance(feed, Stdout) for feed in feeds)


def _is_among_records(feeds: Sequence[Feed]) -> bool:
    """Return whether records may appear on the terminal, where a view in place would overwrite them."""
    if not _to_stdout(feeds):
        return False
    mode = os.fstat(1).st_mode
    # The program that reads a pipe may print on the same terminal.
    return os.isatty(1) or stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _follow(
    result: CrawlResult,
    progress: CrawlProgress,
    feeds: Sequence[Feed],
    interrupts: Interrupts,
    page: LivePage | None,
) -> None:
    """Show a crawl until it ends: it finishes, Ctrl-C stops it, or its output pipe is closed."""
    helpers = Group()
    with view_on(Screen(stderr=True), in_place=not _is_among_records(feeds)) as view:
        helpers.spawn(_show, progress, view, feeds, page)
        helpers.spawn(_stop_if_unread, result)
        items = gevent.spawn(deque, result, maxlen=0)
        try:
            _wait(result, view, interrupts)
            items.join()
        finally:
            helpers.kill()
            if page is not None:
                page.end(progress.read())
        if interrupts.first.is_set():
            view.print(f"stopped: {_pages_left(result.summary)}")


def _wait(result: CrawlResult, view: View, interrupts: Interrupts) -> None:
    ended: Any = gevent.spawn(result.wait)
    gevent.wait([ended, interrupts.first], count=1)
    interrupts.acknowledge()
    if not ended.ready():
        view.print("stopping: finishing the requests in flight (Ctrl-C again to drop them)")
        stopping = gevent.spawn(result.stop)
        gevent.wait([ended, interrupts.second], count=1)
        # stop() waits for the requests in flight; killing it cancels them.
        stopping.kill()
    ended.get()


def _pages_left(summary: Summary) -> str:
    pending = summary.urls.pending
    left = counted(pending, "page")
    return f"{left} left; run the same command to continue" if pending else "nothing left"


def _show(
    progress: CrawlProgress, view: View, feeds: Sequence[Feed], page: LivePage | None
) -> None:
    while True:
        gevent.sleep(_INTERVAL)
        moment = progress.read()
        view.show(moment)
        if page is not None:
            page.show(moment)
        # A file that cannot be written raises again with the next item or when it is closed.
        with suppress(OSError, OutputClosed):
            for feed in feeds:
                if not feed.closed:
                    feed.flush()


def _stop_if_unread(result: CrawlResult) -> None:
    """Stop the crawl when the pipe that its items go to is closed."""
    for error in result.scheduler.error_chan():
        if isinstance(error.__cause__, OutputClosed):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            gevent.spawn(result.stop, 0)
            return
