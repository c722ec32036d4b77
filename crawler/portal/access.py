"""Access: who may see and steer a crawl in this process."""

from __future__ import annotations

import hmac
import os
import re
import secrets
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

#: The variable with a token of the user's own, for programs that read the metrics of each crawl.
VARIABLE = "CRAWLER_LIVE_TOKEN"
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,128}")
#: Names of this machine. Any other may be a name of a site that leads here (DNS rebinding).
_HERE = frozenset({"127.0.0.1", "localhost", "[::1]"})
_READING = frozenset({"GET", "HEAD"})
#: Sent with every answer.
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def new_token() -> str:
    """Return a random token, or the one that the user has set; raise ValueError if that is weak."""
    given = os.environ.get(VARIABLE)
    if given is None:
        return secrets.token_urlsafe(24)
    if not _TOKEN.fullmatch(given):
        raise ValueError(f"{VARIABLE} must have 16 to 128 letters, digits, - or _")
    return given


class Access:
    """
    Lets only requests with the *token* reach *app*, as the first part of the path or as a Bearer.

    It also refuses requests under a foreign name of this machine, and changes that a page of
    another site has sent.
    """

    def __init__(self, app: WSGIApplication, token: str) -> None:
        self._app = app
        self._token = token

    def __call__(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        refusal = self._refusal(environ)
        if refusal:
            start(
                "403 Forbidden", [("Content-Type", "text/plain; charset=utf-8"), *HEADERS.items()]
            )
            return [f"{refusal}\n".encode()]
        return self._app(environ, start)

    def _refusal(self, environ: WSGIEnvironment) -> str:
        """Return why the request is refused, or "" if it is not."""
        host = environ.get("HTTP_HOST", "")
        if not is_here(host):
            return "This page is only for 127.0.0.1 and localhost."
        if not self._is_allowed(environ):
            return "The token is missing or wrong: open the URL that the crawl has printed."
        if environ["REQUEST_METHOD"] not in _READING and not is_same_origin(environ):
            return "This request comes from another site."
        return ""

    def _is_allowed(self, environ: WSGIEnvironment) -> bool:
        """Return whether the token is there; one in the path becomes the root of the pages."""
        bearer = environ.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer ")
        if self._is_token(bearer):
            return True
        given, slash, rest = environ.get("PATH_INFO", "").removeprefix("/").partition("/")
        if not slash or not self._is_token(given):
            return False
        environ["SCRIPT_NAME"], environ["PATH_INFO"] = f"/{given}", f"/{rest}"
        return True

    def _is_token(self, given: str) -> bool:
        return hmac.compare_digest(given.encode(errors="replace"), self._token.encode())


def is_here(host: str, names: Collection[str] = ()) -> bool:
    """Return whether a Host header has a name of this machine, or one of *names*, by any port."""
    # A tunnel has another port than the server.
    return bool({host, host.rpartition(":")[0]} & {*_HERE, *names})


def is_same_origin(environ: WSGIEnvironment) -> bool:
    """Return whether a browser sent the request from a page of ours, or a program sent it."""
    host = environ.get("HTTP_HOST", "")
    origin, site = environ.get("HTTP_ORIGIN"), environ.get("HTTP_SEC_FETCH_SITE")
    scheme = environ["wsgi.url_scheme"]
    return origin in (None, f"{scheme}://{host}") and site in (None, "same-origin", "none")
