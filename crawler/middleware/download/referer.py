"""Referer: the header field that names the page of a link."""

from __future__ import annotations

from functools import lru_cache

from ... import url as urls
from ...data import BODY_PREFIX, Request, Response
from ...errors import InvalidURL
from ...headers import Headers
from ...http.referrer_policy import DEFAULT_POLICY, POLICIES, named_policy, referrer
from .contract import DownloadMiddleware
from .headers import adding

#: The number of origins whose policies are known.
_MOST = 10_000


class Referer(DownloadMiddleware):
    """
    Names the page on which a request was found, as *policy* allows; crawls have one by default.

    A page may ask for less by the header field ``Referrer-Policy``. That holds for its whole
    origin until the end of the process, and never allows more than *policy*; the elements of a
    page do not count. Each hop of a redirect is a separate request with its own Referer.
    Credentials and fragments are never sent. A request that already has a Referer keeps it.
    """

    def __init__(self, policy: str = DEFAULT_POLICY) -> None:
        if policy not in POLICIES:
            raise ValueError(f"policy must be one of {', '.join(POLICIES)}, not {policy!r}")
        self._policy = policy
        self._usual = frozenset({policy})
        #: By origin, the policies that its pages have named, and the usual one.
        self._named: dict[str, frozenset[str]] = {}

    def before_download(self, request: Request) -> Request:
        page = request.found_on
        # The start of a body is asked for by the crawler itself: a robots.txt is not a link of a page.
        if page is None or BODY_PREFIX in request.meta or "referer" in request.headers:
            return request
        value = self._value(page, request.url)
        if not value:
            return request
        if not request.headers:
            return request.replace(headers=_field(value))
        return adding(request, _field(value))

    def after_download(self, response: Response) -> Response:
        if "referrer-policy" in response.headers and (named := named_policy(response.headers)):
            origin = urls.origin(response.url)
            before = self._named.get(origin, self._usual)
            if named not in before:
                self._learn(origin, before | {named})
        return response

    def _value(self, page: str, target: str) -> str:
        """Return the Referer that all policies of the page allow: the shortest."""
        if not self._named:
            return referrer(self._policy, page, target)
        try:
            names = self._named.get(urls.origin(page), self._usual)
        except InvalidURL:
            return ""
        return min((referrer(name, page, target) for name in names), key=len)

    def _learn(self, origin: str, names: frozenset[str]) -> None:
        if len(self._named) >= _MOST:
            del self._named[next(iter(self._named))]
        self._named[origin] = names


@lru_cache(maxsize=256)
def _field(value: str) -> Headers:
    """Return one object for all links of a page: a fetcher sets its header fields once."""
    return Headers([("Referer", value)])
