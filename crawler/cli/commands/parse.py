"""``crawler parse URL SPIDER.py``: what the callback of a spider finds in one page."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ...report.text import printable
from ..one_page import fetch_page
from ..options import common_options, json_option
from ..spider_file import load_spider
from ..standard_streams import printing_to_stderr

if TYPE_CHECKING:
    from ...data import Response
    from ...spider import Spider


def _object(_context: click.Context, _parameter: click.Parameter, text: str | None) -> Any:
    """Return the JSON object in *text*; an empty one if none is given."""
    try:
        value = json.loads(text or "{}")
    except ValueError as error:
        raise click.BadParameter(f"{text!r} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise click.BadParameter(f"""an object is needed, such as '{{"page": 2}}', not {text!r}""")
    return value


@click.command()
@click.argument("url")
@click.argument("spider", metavar="SPIDER.py[:NAME]")
@click.option("-c", "--callback", default="parse", show_default=True, help="The method to call.")
@click.option(
    "-a", "arguments", multiple=True, metavar="NAME=VALUE", help="Give the spider an attribute."
)
@click.option("--cb-kwargs", callback=_object, metavar="JSON", help="Arguments of the callback.")
@click.option("--meta", callback=_object, metavar="JSON", help="The meta of the request.")
@json_option
@common_options
def parse(
    url: str,
    spider: str,
    callback: str,
    arguments: Sequence[str],
    cb_kwargs: dict[str, Any],
    meta: dict[str, Any],
    as_json: bool,
    assigned: Sequence[str],
) -> None:
    """Print what a callback of a spider finds in one page, without a crawl.

    The page passes the middlewares of the spider; its pipelines are not called. Each line is an
    item or a request. With --json each line is an object with one key, item or request. The
    command exits with 1 if the callback fails.

    Example: crawler parse https://quotes.example/ quotes.py -c parse_page --cb-kwargs '{"page": 2}'
    """
    from ...data import Request

    loaded = load_spider(spider, arguments)
    response = fetch_page(Request(url, cb_kwargs=cb_kwargs, meta=meta), assigned)
    failure = None
    try:
        for found in printing_to_stderr(_findings(loaded, callback, response)):
            click.echo(json.dumps(found) if as_json else printable(_line(found)))
    except Exception as error:
        failure = error
    if failure is not None:
        sys.stdout.flush()
        raise click.ClickException(f"{callback}: {failure}") from failure


def _findings(spider: Spider, callback: str, response: Response) -> Any:
    """Yield what *callback* finds, as plain values under the keys item and request."""
    from ...compose import findings
    from ...credentials import without_credentials
    from ...data import Item, Links, LostItem
    from ...feed.record import as_record
    from ...serialization import request_to_dict

    for found in findings(spider, response, callback):
        if isinstance(found, Item):
            yield {"item": json.loads(json.dumps(as_record(found.value), default=str))}
        elif isinstance(found, LostItem) or (isinstance(found, Links) and found.refusal):
            continue
        elif isinstance(found, Links):
            links = map(without_credentials, found.urls)
            yield from ({"request": {"url": url, "depth": found.depth}} for url in links)
        else:
            yield {"request": request_to_dict(found)}


def _line(found: dict[str, Any]) -> str:
    if "item" in found:
        return f"item     {json.dumps(found['item'], ensure_ascii=False)}"
    request = found["request"]
    method, callback = request.get("method", "GET"), request.get("callback")
    return f"request  {method} {request['url']}" + (f"  -> {callback}" if callback else "")
