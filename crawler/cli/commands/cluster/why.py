"""``crawler cluster why``: what became of a URL of a job."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from ....report.text import printable
from ...options import json_option, verbose_option
from .options import redis_option

_SENTENCES = {
    "pending": "waits, or is being fetched",
    "ended": "has ended: `crawler why` tells how, where the records are collected",
    "not met": "was not met, or was turned away: `crawler cluster report` counts the reasons",
}


@click.command()
@click.argument("name")
@click.argument("url")
@redis_option
@json_option
@verbose_option
def why(name: str, url: str, redis_url: str, as_json: bool) -> None:
    """Tell whether a URL of a job waits, has ended, or was not met.

    The story of a page that has ended is in the directory of the collector: `crawler why` tells it.
    The exit code is 1 if the job has not met the URL.

    Example: crawler cluster why quotes https://quotes.toscrape.com/ --redis redis://localhost:6379
    """
    from ....cluster.url_story import url_story

    story = url_story(redis_url, name, url)
    if as_json:
        click.echo(json.dumps(story, indent=4))
    else:
        click.echo(printable(f"{url} {_SENTENCES[story['status']]}"))
        for label, text in _details(story):
            click.echo(printable(f"  {label:<12}{text}"))
    sys.exit(int(story["status"] == "not met"))


def _details(story: dict[str, Any]) -> list[tuple[str, str]]:
    found = [("found on", str(story["found_on"]))] if story.get("found_on") else []
    found += [("redirected", " → ".join(story["redirects"]))] if story.get("redirects") else []
    return found + [("attempt", text) for text in story.get("attempts", ())]
