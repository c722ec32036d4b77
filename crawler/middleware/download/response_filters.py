"""
Filters: which responses are analysed.

Only successful responses are checked: a redirect is followed and an error is retried or counted,
whatever its body is. A robots.txt always passes: without it, no page of its origin is fetched.
"""

from __future__ import annotations

from collections.abc import Collection
from fnmatch import fnmatchcase

from ... import url as urls
from ...data import Request, Response
from ...errors import Refusal
from ...http.media_types import known_types, media_type
from .contract import DownloadMiddleware


class ContentTypes(DownloadMiddleware):
    """
    Refuses responses ("content_type") whose type is not in *allow*, or is in *deny*.

    Both contain types such as "text/html" and patterns such as "image/*"; without *allow* all
    types are allowed that are not denied. A response without a Content-Type passes.

    With *by_extension*, a URL with the extension of an unwanted type is not fetched at all.
    Extensions of text types are ignored, because a page.pl may be anything. Note that a wiki may
    serve HTML at File:Photo.jpg.
    """

    def __init__(
        self,
        allow: Collection[str] = (),
        deny: Collection[str] = (),
        *,
        by_extension: bool = False,
    ) -> None:
        self._allow = _patterns("allow", allow)
        self._deny = _patterns("deny", deny)
        self._by_extension = by_extension

    def before_download(self, request: Request) -> Request:
        if self._by_extension and not _is_robots(request):
            self._check(_type_by_extension(request.url))
        return request

    def after_download(self, response: Response) -> Response:
        if _is_checked(response):
            self._check(_media_type(response))
        return response

    def _check(self, media_type: str) -> None:
        if media_type and not self._accepts(media_type):
            raise Refusal("content_type")

    def _accepts(self, media_type: str) -> bool:
        if any(fnmatchcase(media_type, pattern) for pattern in self._deny):
            return False
        return not self._allow or any(fnmatchcase(media_type, each) for each in self._allow)


class MaxSize(DownloadMiddleware):
    """
    Refuses responses ("size") of more than *size* bytes, announced or decoded.

    The body has been received by then; the Limits of the fetcher bound what is received.
    """

    def __init__(self, size: int) -> None:
        if type(size) is not int or size < 0:
            raise ValueError(f"size must be a number of bytes, not {size!r}")
        self._size = size

    def after_download(self, response: Response) -> Response:
        if _is_checked(response) and max(response.size, _announced(response)) > self._size:
            raise Refusal("size")
        return response


def _patterns(name: str, given: Collection[str]) -> tuple[str, ...]:
    if isinstance(given, str):
        raise ValueError(f"{name} must be a list, not just {given!r}")
    for pattern in given:
        if pattern.count("/") != 1:
            raise ValueError(f"{name}: {pattern!r} is not a type such as text/html or image/*")
    return tuple(pattern.lower() for pattern in given)


def _is_checked(response: Response) -> bool:
    return 200 <= response.status < 300 and not _is_robots(response.request)


def _is_robots(request: Request) -> bool:
    asked = request.redirects[0] if request.redirects else request.url
    return urls.target(asked) == "/robots.txt"


def _media_type(response: Response) -> str:
    given = response.headers.all("content-type")
    return media_type(given[-1]) if given else ""


def _announced(response: Response) -> int:
    text = response.headers.get("content-length", "")
    return int(text[:20]) if text.isascii() and text.isdigit() else 0


def _type_by_extension(url: str) -> str:
    name = urls.target(url).partition("?")[0].rpartition("/")[2]
    guessed, coding = known_types().guess_type(f"/{name}")
    if coding is not None:
        return f"application/{coding}"
    if guessed is None or guessed.startswith("text/") or guessed == "application/octet-stream":
        return ""
    return guessed
