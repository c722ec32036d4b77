"""``crawler demo``: crawl a site that the command itself serves."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..options import log_options


@click.command()
@click.option(
    "--pages",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="The number of pages of the site.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("crawls/demo/pages.jsonl"),
    show_default=True,
    help="Where to write the records (JSON Lines).",
)
@click.option("--json", "as_json", is_flag=True, help="Print the final summary as JSON.")
@log_options
def demo(pages: int, output: Path, as_json: bool) -> None:
    """Crawl a bundled site on this machine, without a network.

    A few of its pages are missing, redirected or broken, to show how the report lists them.

    Example: crawler demo --pages 200 -o demo.jsonl
    """
    from ...job.directory import Job
    from ...settings import Settings
    from ...spider import PageSpider
    from ...testing import LoopbackSite, Page, Reply, faults, generated_site
    from ..crawl_command import run_and_report

    site: dict[str, Page] = dict(generated_site(pages=pages, links=20, size=6000))
    names = list(site)[1:]
    if len(names) >= 40:
        site[names[9]] = Reply(301, {"Location": names[19]})
        site[names[29]] = Reply(404, body="<h1>gone</h1>")
        site[names[39]] = faults.truncated(b"<h1>half a page</h1>")
    output.parent.mkdir(parents=True, exist_ok=True)
    Job.clear(output.parent)  # each run serves the site on another port
    with LoopbackSite(site) as server, Job(output.parent) as job:
        feed = job.open_feed(str(output), append=False)
        # The site is our own, so the crawl need not be polite.
        fast = {"delay": 0, "robots": False, "per_host": 32, "retries.wait": 0.1}
        settings = Settings.load(code=fast | {"depth": None, "politeness.latency_factor": 0})
        spider = PageSpider(start_urls=[server.url("/")])
        code = run_and_report(spider, job, [feed], as_json=as_json, settings=settings)
    sys.exit(0 if code == 1 else code)  # one page is broken on purpose
