"""CrawlSpider: a spider that follows links by rules."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..data import Request
from .callback_results import results
from .link_extractor import FoundLink, LinkExtractor
from .page import Page
from .spider import Spider

log = logging.getLogger(__name__)

#: The key in the meta of a request that holds the number of the rule that found it.
_RULE = "rule"


@dataclass(frozen=True)
class Rule:
    """
    Links to follow, and what to do with the pages that they lead to.

    *callback* is a method of the spider, its name, a function of a page, or None; *cb_kwargs* are keyword arguments
    for it. *follow* is whether the rules apply to these pages too: by default, if there is no
    callback. *process_links* is called with the links found on a page, whose *url* it may change,
    and returns links or URLs to follow; *process_request* with each request and the page, and
    returns the request, or None to drop it.
    """

    link_extractor: LinkExtractor = field(default_factory=LinkExtractor)
    callback: Callable[..., Any] | str | None = None
    cb_kwargs: Mapping[str, Any] = field(default_factory=dict)
    follow: bool | None = None
    process_links: Callable[[list[FoundLink]], Iterable[FoundLink | str]] | str | None = None
    process_request: Callable[[Request, Page], Request | None] | str | None = None
    errback: str | None = None

    @property
    def follows(self) -> bool:
        return self.callback is None if self.follow is None else self.follow


class CrawlSpider(Spider):
    """
    Follows the links that its *rules* extract; the first rule that extracts a URL counts.

        class Shop(CrawlSpider):
            start_urls = ["https://shop.example/"]
            rules = [
                Rule(LinkExtractor(allow=r"/category/")),
                Rule(LinkExtractor(allow=r"/product/"), callback="parse_product"),
            ]

            def parse_product(self, page):
                yield {"name": page.css("h1::text").get()}

    Start pages go to parse_start_url(), which finds nothing by default.
    """

    rules: Collection[Rule] = ()

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        if type(self).parse is not CrawlSpider.parse:
            log.warning(
                "%s.parse() takes the place of the rules: call it parse_start_url(), or another name",
                type(self).__name__,
            )

    def parse(self, response: Page, **_: Any) -> Iterator[Any]:
        yield from results(self.parse_start_url(response))
        yield from self._follow(response)

    def parse_start_url(self, response: Page) -> Any:  # noqa: ARG002
        """Yield the items and requests found in a start page; by default none."""
        return None

    def parse_by_rule(self, response: Page, **arguments: Any) -> Iterator[Any]:
        """
        Pass a page to the callback of the rule that found it, and apply the rules if it says so.

        *arguments* are those that process_request() has given to the request.
        """
        rule = tuple(self.rules)[response.meta[_RULE]]
        if rule.callback is not None:
            callback = self._callback_of(rule.callback)
            yield from results(callback(response, **{**rule.cb_kwargs, **arguments}))
        if rule.follows:
            yield from self._follow(response)

    def _callback_of(self, given: Callable[..., Any] | str) -> Callable[..., Any]:
        """Return the method that is *given* or named; or the function, if it is not a method."""
        name = str(getattr(given, "__name__", given))
        is_function = callable(given) and not hasattr(type(self), name)
        return given if is_function else self.callback(name, "")  # type: ignore[return-value]

    def _follow(self, page: Page) -> Iterator[Request]:
        seen: set[str] = set()
        for number, rule in enumerate(self.rules):
            found = [url for url in rule.link_extractor.urls(page) if url not in seen]
            seen.update(found)
            for url in self._processed(rule, found):
                request = self._request(url, number, rule, page)
                if request is not None:
                    yield request

    def _processed(self, rule: Rule, urls: list[str]) -> Iterable[str]:
        process = self._method(rule.process_links)
        if process is None:
            return urls
        links = process([FoundLink(url) for url in urls])
        return [link if isinstance(link, str) else link.url for link in links]

    def _request(self, url: str, number: int, rule: Rule, page: Page) -> Request | None:
        request = Request(url, callback="parse_by_rule", errback=rule.errback, meta={_RULE: number})
        process = self._method(rule.process_request)
        return request if process is None else process(request, page)

    def _method(self, named: Callable[..., Any] | str | None) -> Callable[..., Any] | None:
        return getattr(self, named) if isinstance(named, str) else named
