"""``crawler fetch URL``: one page, without a crawl."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ...report.text import printable, printable_lines
from ..one_page import check_success, fetch_page
from ..options import common_options, json_option
from ..request_options import request_of, with_request_options

if TYPE_CHECKING:
    from ...data import Response


@click.command()
@click.argument("url")
@click.option("--headers", is_flag=True, help="Print the status and headers, not the body.")
@json_option
@with_request_options
@common_options
def fetch(url: str, headers: bool, as_json: bool, assigned: Sequence[str], **request: Any) -> None:
    """Fetch one page as a crawl would, and print it.

    The command follows redirects and does not read robots.txt. It exits with 1 if the status is
    not 2xx.

    On a terminal it prints text, with control characters made visible; to a file or a pipe it
    writes the bytes of the body. With --json it prints one object: url, status, headers, elapsed
    (seconds) and, without --headers, text.

    Cookies, the login, the body and most header fields of the request are not sent to another
    origin that it redirects to.

    Example: crawler fetch https://example.org/api -H 'Accept: application/json' --json
    """
    response = fetch_page(request_of(url, **request), assigned)
    if as_json:
        click.echo(json.dumps(_as_dict(response) | ({} if headers else {"text": response.text})))
    elif headers:
        for line in (f"{response.status} {response.url}", *_fields(response)):
            click.echo(printable(line))
    elif sys.stdout.isatty():
        click.echo(printable_lines(response.text))
    else:
        sys.stdout.buffer.write(response.body)
    check_success(response)


def _as_dict(response: Response) -> dict[str, Any]:
    return {
        "url": response.url,
        "status": response.status,
        "headers": list(response.headers.fields),
        "elapsed": response.elapsed,
    }


def _fields(response: Response) -> list[str]:
    return [f"{name}: {value}" for name, value in response.headers.fields]
