"""``crawler report JOB``: print the final report of a job again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...report.text import listed, printable_lines
from ..job_paths import job_at, last_job
from ..live_page import write_job_page
from ..options import JOBS, is_verbose, json_option, verbose_option

if TYPE_CHECKING:
    from ...job.view import JobView

_NOT_FINISHED = {
    "unfinished": [("ended", "before it was finished: run the same command to continue")],
    "empty": [("ended", "before a URL was admitted: run the command again")],
}


@click.command()
@click.argument("job", required=False, type=click.Path(file_okay=False))
@click.option(
    "--html",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the report as a web page, one file that opens anywhere; print nothing.",
)
@json_option
@verbose_option
def report(job: str | None, html: Path | None, as_json: bool) -> None:
    """Print the final report of a job again.

    JOB is a directory, or the name of a directory below ./crawls; the default is the job that was
    used last. If the job is running, or its process was killed, the report has only the figures
    that are certain: the outcomes of the URLs that are settled.

    To fetch the failed pages of a job again, run its command once more with --retry-failed.

    Example: crawler report example.org --html report.html
    """
    from ...job.view import JobView
    from ...report.final_report import final_report

    with JobView(job_at(job) if job else last_job(JOBS)) as view:
        if html is not None:
            write_job_page(view, html)
            return
        final = final_report(view) or _figures(view)
        if as_json:
            click.echo(json.dumps(final["summary"], indent=4))
            return
        from ..live_view import Screen
        from ..report import print_rows

        console = Screen(soft_wrap=True)
        print_rows(console, final["rows"])
        if is_verbose():
            for line in view.error_lines():
                console.print(printable_lines(line.trace), markup=False, highlight=False)


def _figures(view: JobView) -> dict[str, Any]:
    """Return the figures that are certain without a final report."""
    from dataclasses import asdict

    from ...report.queue_figures import QueueFigures
    from ..report import error_rows

    counts, queue = view.counts(), QueueFigures.of(view.counts())
    rows = [("pages", f"{queue.success} done, {queue.failed} failed, {queue.left} left")]
    named = {"failed": counts.failed, "refused": counts.refused, "turned away": counts.turned_away}
    rows += [(label, listed(reasons)) for label, reasons in named.items() if reasons]
    rows += error_rows(view.error_lines())
    rows += [("running", view.user)] if view.user else _NOT_FINISHED.get(view.state, [])
    summary = {"urls": asdict(counts), "user": view.user, "state": view.state}
    return {"rows": rows, "summary": summary}
