"""``crawler crawl URL…``: one record for every page below some URLs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from .show import run_and_report


@click.command()
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option(
    "--depth", default=1, show_default=True, help="How many links away from a start page."
)
@click.option("--domain", "domains", multiple=True, help="Another domain to accept; repeatable.")
@click.option("--concurrency", default=64, show_default=True, help="Requests at a time, in all.")
@click.option("--per-host", default=2, show_default=True, help="Requests at a time, to one host.")
@click.option(
    "--delay", default=0.1, show_default=True, help="Seconds between two requests to one host."
)
@click.option("--robots/--no-robots", default=True, help="Obey robots.txt (the default), or not.")
@click.option("--max-pages", type=int, help="Stop after this many pages.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to write the records (JSON Lines).  [default: crawls/HOST/pages.jsonl]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the final summary as JSON.")
def crawl(urls: tuple[str, ...], output: Path | None, *, as_json: bool, **options: Any) -> None:
    """Crawl the pages below each URL and write one record for each.

    The domain of each URL is accepted; other domains are not, unless --domain names them.

    Example: crawler crawl https://example.org --depth 2 -o pages.jsonl
    """
    from ..crawl import page_crawl
    from ..feed import JsonLines

    with JsonLines(output or _default_output(urls[0])) as feed:
        try:
            scheduler = page_crawl(feed, **_settings(**options))
        except ValueError as error:
            raise click.UsageError(str(error)) from None
        code = run_and_report(scheduler, urls, feed, as_json=as_json)
    sys.exit(code)


def _settings(
    depth: int, domains: tuple[str, ...], concurrency: int, max_pages: int | None, **manners: Any
) -> dict[str, Any]:
    from ..frontier import Budget, Politeness
    from ..scheduler import RequestArgs

    args = RequestArgs(
        accepted_domains=domains,
        max_depth=depth,
        politeness=Politeness(**manners),
        budget=Budget(pages=max_pages),
    )
    return {"request_args": args, "concurrency": concurrency}


def _default_output(url: str) -> Path:
    from ..errors import InvalidURL
    from ..url import host

    try:
        name = host(url).replace(":", "_")
    except InvalidURL:
        raise click.UsageError(
            f"{url!r} is not a URL: it starts with http:// or https://"
        ) from None
    return Path("crawls") / name / "pages.jsonl"
