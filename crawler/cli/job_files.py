"""The job directory, the output files and the quality gates that the options of a crawl name."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from .._words import counted
from ..errors import CrawlerError, JobError
from ..feed import Feed, WarcWriter, check_feed, check_place, local_path
from ..job.directory import MARKER, STATE, Job
from ..job.view import JobView, directory_name
from ..report.gates import Gate
from ..report.text import listed, printable
from .options import JOBS, CrawlOptions
from .resume_notice import print_large


def gates_of(conditions: Iterable[str], min_items: int | None) -> list[Gate]:
    try:
        gates = [Gate.parse(condition) for condition in conditions]
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    return gates if min_items is None else [*gates, Gate.at_least(min_items)]


def open_job(
    options: CrawlOptions, name: str, records: str, program: str
) -> tuple[Job, list[Feed]]:
    """
    Open the directory that --job names, or the one of *name*, and the outputs.

    Without -o and -O the items go to the file *records* in the directory, or to stdout if that is
    "-". --fresh empties the directory first, but not before all else is known to be right; it asks
    if the crawl there is not finished.
    """
    path = local_path(options.job or Path(JOBS) / directory_name(name))
    outputs = Outputs.of(options, records if records == "-" else str(path / records))
    outputs.check()
    if options.fresh and any((path / name).exists() for name in (STATE, MARKER)):
        if not options.yes and (loss := _loss(path)):
            _confirm(f"{loss}. Delete its state and start over?")
        Job.clear(path)
    print_large(path)
    with ExitStack() as on_error:
        job = on_error.enter_context(Job(path))
        job.program = program
        if options.retry_failed is not None:
            reasons = list(filter(None, options.retry_failed.split(",")))
            _name_others(path, reasons)
            job.retry_failed(*reasons)
        feeds = outputs.open(job)
        on_error.pop_all()
    return job, feeds


@dataclass(frozen=True)
class Outputs:
    """The outputs that the options of a crawl name; a feed with whether to append to it."""

    feeds: Sequence[tuple[str, bool]]
    archive: str | None
    report: Path | None

    @classmethod
    def of(cls, options: CrawlOptions, default: str) -> Outputs:
        named = [(name, True) for name in options.append_to]
        named += [(name, False) for name in options.write_to]
        return cls(named or [(default, False)], options.warc, options.report)

    def check(self) -> None:
        """Raise a usage error if one cannot be opened."""
        with _as_usage_error():
            for name, _ in self.feeds:
                check_feed(name)
            if self.archive is not None:
                check_place(WarcWriter.check(self.archive))
            if self.report is not None:
                check_place(self.report)

    def open(self, job: Job) -> list[Feed]:
        """Open all of them in *job*, which closes them."""
        files = [name for name, _ in self.feeds if name != "-"]
        job.check_outputs([*files, *([self.archive] if self.archive else [])])
        with _as_usage_error():
            feeds = [job.open_feed(name, append=append) for name, append in self.feeds]
            if self.archive is not None:
                job.open_archive(self.archive)
        return feeds


@contextmanager
def _as_usage_error() -> Iterator[None]:
    try:
        yield
    except (ValueError, OSError, CrawlerError) as error:
        raise click.UsageError(str(error)) from None


def _name_others(path: Path, reasons: Iterable[str]) -> None:
    """Print which of *reasons* no page of the job has failed for, and those that there are."""
    with JobView(path) as view:
        failed = view.counts().failed
    if others := [reason for reason in reasons if reason not in failed]:
        there = f"the reasons are {listed(failed)}" if failed else "no page has failed"
        text = f"{path}: no page has failed for {', '.join(others)}; {there}"
        click.echo(printable(text), err=True)


def _loss(path: Path) -> str:
    """Return what would be lost with the job in *path*; "" if its crawl is finished, or never began."""
    try:
        with closing(JobView(path)) as view:
            if view.state in ("finished", "empty"):
                return ""
            left = counted(view.counts().pending, "page")
            cut = f" ({view.reason})" if view.reason != "stopped" and view.reason else ""
    except JobError as error:
        return str(error)
    return f"{path} is not finished{cut}, {left} left"


def _confirm(question: str) -> None:
    """Ask on a terminal; end the command if the answer is no."""
    if sys.stdin.isatty() and sys.stderr.isatty() and not click.confirm(question, err=True):
        click.echo("crawler: nothing was deleted, and nothing was crawled", err=True)
        raise click.exceptions.Exit(3)
