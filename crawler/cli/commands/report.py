"""``crawler report JOB``: print the final report of a job again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from ..job_paths import job_at, last_job
from ..options import JOBS, is_verbose, json_option, verbose_option
from ..text import listed, printable_lines, total

if TYPE_CHECKING:
    from ...job.view import JobView

_NOT_FINISHED = {
    "unfinished": [("ended", "before it was finished: run the same command to continue")],
    "empty": [("ended", "before a URL was admitted: run the command again")],
}


@click.command()
@click.argument("job", required=False, type=click.Path(file_okay=False))
@json_option
@verbose_option
def report(job: str | None, as_json: bool) -> None:
    """Print the final report of a job again.

    JOB is a directory, or the name of a directory below ./crawls; the default is the job that was
    used last. If the job is running, or its process was killed, the report has only the figures
    that are certain: the outcomes of the URLs that are settled.

    Example: crawler report example.org
    """
    from ...job.view import JobView

    with JobView(job_at(job) if job else last_job(JOBS)) as view:
        final = view.fact("report")
        # A report of an earlier run does not hold once the job has been continued.
        if view.user or final is None or final["commits"] != view.fact("commits"):
            final = _figures(view)
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

    from ..report import error_rows

    counts = view.counts()
    rows = [("pages", f"{counts.done} done, {total(counts.failed)} failed, {counts.pending} left")]
    named = {"failed": counts.failed, "refused": counts.refused, "turned away": counts.turned_away}
    rows += [(label, listed(reasons)) for label, reasons in named.items() if reasons]
    rows += error_rows(view.error_lines())
    rows += [("running", view.user)] if view.user else _NOT_FINISHED.get(view.state, [])
    summary = {"urls": asdict(counts), "user": view.user, "state": view.state}
    return {"rows": rows, "summary": summary}
