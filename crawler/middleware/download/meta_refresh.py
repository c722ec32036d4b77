"""MetaRefresh: pages that send browsers to another page by an element."""

from __future__ import annotations

from ...data import Request, Response
from ...headers import Headers
from ...spider.links import is_html
from ...spider.page import Page
from .contract import DownloadMiddleware

#: The characters at the start of a page in which the element is looked for.
_START = 4096


class MetaRefresh(DownloadMiddleware):
    """
    Makes a page with ``<meta http-equiv=refresh>`` a redirect to the page that it names.

    The page itself is then not analysed. A refresh after more than *longest* seconds, to the same
    page, to what is no URL, or inside of ``noscript`` is ignored, and so is any if the request
    follows no redirects.
    """

    def __init__(self, longest: float = 100.0) -> None:
        self._longest = longest

    def after_download(self, response: Response) -> Response:
        if not _may_refresh(response):
            return response
        target = self._target(Page.of(response))
        if target is None or target.partition("#")[0] == response.url.partition("#")[0]:
            return response
        fields = [*response.headers.fields, ("Location", target)]
        return response.replace(status=302, headers=Headers(fields))

    def _target(self, page: Page) -> str | None:
        from w3lib.html import get_meta_refresh  # noqa: PLC0415 - few pages have one

        try:
            seconds, url = get_meta_refresh(page.text[:_START])
        except ValueError:  # of the parser of URLs
            return None
        if url is None or seconds is None or seconds > self._longest:
            return None
        return page.urljoin(url)


def _may_refresh(response: Response) -> bool:
    return (
        200 <= response.status < 300
        and b"refresh" in response.body[:_START].lower()
        and is_html(response)
        and _follows(response.request)
    )


def _follows(request: Request) -> bool:
    return bool(request.meta.get("max_redirects", True))
