"""``crawler fetch URL`` and ``crawler links URL``: one page, without a crawl."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ..options import common_options, json_option, load_settings
from ..text import printable, printable_lines

if TYPE_CHECKING:
    from ...data import Request, Response


@click.command()
@click.argument("url")
@click.option("--headers", is_flag=True, help="Print the status and headers, not the body.")
@json_option
@common_options
def fetch(url: str, headers: bool, as_json: bool, assigned: Sequence[str]) -> None:
    """Fetch one page, as a crawl would, and print it.

    robots.txt is not asked. Redirects are followed. Exits with 1 if the answer is no success.

    A terminal gets text with its control characters made visible; a file or a pipe gets the
    bytes of the page. With --json it is one object: url, status, headers, elapsed (seconds)
    and, unless --headers is given, text.
    """
    response = fetch_page(url, assigned)
    if as_json:
        click.echo(json.dumps(_as_dict(response) | ({} if headers else {"text": response.text})))
    elif headers:
        for line in (f"{response.status} {response.url}", *_fields(response)):
            click.echo(printable(line))
    elif sys.stdout.isatty():
        click.echo(printable_lines(response.text))
    else:
        sys.stdout.buffer.write(response.body)
    _check_success(response)


def _check_success(response: Response) -> None:
    """End the command with 1 if the answer, which has been printed, is no success."""
    if not 200 <= response.status < 300:
        sys.stdout.flush()
        raise click.ClickException(f"{response.url} answered {response.status}")


def _as_dict(response: Response) -> dict[str, Any]:
    return {
        "url": response.url,
        "status": response.status,
        "headers": list(response.headers.fields),
        "elapsed": response.elapsed,
    }


def _fields(response: Response) -> list[str]:
    return [f"{name}: {value}" for name, value in response.headers.fields]


@click.command()
@click.argument("url")
@json_option
@common_options
def links(url: str, as_json: bool, assigned: Sequence[str]) -> None:
    """Print what a page links to, one URL a line.

    robots.txt is not asked. Redirects are followed. Exits with 1 if the answer is no success.
    """
    from ...spider import links as links_of

    response = fetch_page(url, assigned)
    found = list(links_of(response))
    for line in [json.dumps(found)] if as_json else map(printable, found):
        click.echo(line)
    _check_success(response)


def fetch_page(url: str, assigned: Sequence[str]) -> Response:
    """Follow redirects to the page itself; say in one line what went wrong."""
    from ...data import Request
    from ...errors import FetchError, InvalidURL
    from ...http.redirect import is_redirect

    request = Request(url)
    with load_settings(assigned).fetch() as client:
        try:
            response = client(request)
            while is_redirect(response):
                request = _followed(request, response)
                response = client(request)
        except FetchError as error:
            if error.kind == "bad_request":
                raise click.UsageError(error.detail) from error
            raise click.ClickException(f"{url}: {error}") from error
        except InvalidURL as error:
            raise click.ClickException(f"{request.url} sends to what is {error}") from error
    return response


def _followed(request: Request, response: Response) -> Request:
    """Return the next hop; say in one line why there is none."""
    from ...http.redirect import MAX_REDIRECTS, next_hop

    hop = next_hop(request, response)
    first = hop.redirects[0]
    if hop.url in hop.redirects:
        raise click.ClickException(
            f"{first}: redirect_loop: {request.url} sends to {hop.url} again"
        )
    if len(hop.redirects) > MAX_REDIRECTS:
        raise click.ClickException(f"{first}: redirect_limit: sent on over {MAX_REDIRECTS} times")
    return hop
