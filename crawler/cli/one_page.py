"""How a command fetches one page without a crawl."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from .options import load_settings

if TYPE_CHECKING:
    from ..data import Request, Response


def fetch_page(page: str | Request, assigned: Sequence[str]) -> Response:
    """Fetch a URL or a request and follow its redirects; raise a one-line error if that fails."""
    from ..compose import fetch_with
    from ..data import Request
    from ..errors import FetchError, InvalidURL
    from ..http.redirect import is_redirect
    from ..url import hosts_by_address

    request = Request(page) if isinstance(page, str) else page
    url = request.url
    request = request.replace(trusted=hosts_by_address([url]))
    settings = load_settings(assigned)
    with settings.fetch() as client:
        fetch = fetch_with(client, settings)
        try:
            response = fetch(request)
            while is_redirect(response):
                request = _followed(request, response)
                response = fetch(request)
        except FetchError as error:
            if error.kind == "bad_request":
                raise click.UsageError(error.detail) from error
            raise click.ClickException(f"{url}: {error}") from error
        except InvalidURL as error:
            raise click.ClickException(
                f"{request.url} redirects to a target that is {error}"
            ) from error
    return response


def _followed(request: Request, response: Response) -> Request:
    """Return the request for the next redirect hop; raise a one-line error if it is not allowed."""
    from ..http.redirect import MAX_REDIRECTS, next_hop

    hop = next_hop(request, response)
    first = hop.redirects[0]
    is_same = hop.url in hop.redirects and hop.method == request.method  # not GET after a POST
    if is_same and "set-cookie" not in response.headers:
        raise click.ClickException(
            f"{first}: redirect_loop: {request.url} redirects to {hop.url} again"
        )
    if len(hop.redirects) > MAX_REDIRECTS:
        raise click.ClickException(f"{first}: redirect_limit: more than {MAX_REDIRECTS} redirects")
    return hop


def check_success(response: Response) -> None:
    """End the command with exit code 1 if the status of the printed *response* is not 2xx."""
    if not 200 <= response.status < 300:
        sys.stdout.flush()
        raise click.ClickException(f"{response.url} answered {response.status}{_remedy(response)}")


def _remedy(response: Response) -> str:
    """Return what to do about a login that was sent in another way than the server wants it."""
    from ..http.digest import strongest_challenge

    is_basic = response.request.headers.get("authorization", "").startswith("Basic ")
    wanted = strongest_challenge(response.headers.all("www-authenticate"))
    if response.status != 401 or not is_basic or wanted is None:
        return ""
    return ": it wants a digest instead of the password, which -s auth=digest sends"
