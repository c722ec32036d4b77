"""Page: the response as a spider's callback gets it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from ..data import Request, Response
from .forms import Data, form_request
from .html_limits import narrow
from .links import base_url, is_html, is_xml
from .links import links as links_of
from .links import title as title_of
from .page_meta import PageMeta
from .resolve_href import HrefResolver
from .xml_records import without_dtd

if TYPE_CHECKING:
    from parsel import Selector
    from parsel.selector import SelectorList

_JSON = re.compile(r"[\w.-]+/(?:[\w.-]+\+)?json\b", re.IGNORECASE)
_BASE = re.compile(r"<[bB][aA][sS][eE][\s/]")


class Page(Response):
    """
    A response with selectors, links and requests to follow.

    Selectors are parsel's. They work on the text as it was decoded here; the document is
    parsed for them once, when the first selector is used.
    """

    @classmethod
    def of(cls, response: Response) -> Self:
        """Return *response* as a page with the same body, and what was already read of it."""
        if isinstance(response, cls):
            return response
        page = cls.__new__(cls)
        vars(page).update(vars(response))
        return page

    @cached_property
    def meta(self) -> Mapping[str, Any]:
        return PageMeta(self)

    @property
    def cb_kwargs(self) -> Mapping[str, Any]:
        return self.request.cb_kwargs

    @property
    def title(self) -> str | None:
        """The text of the ``title`` element, on one line."""
        return title_of(self)

    links = links_of

    @cached_property
    def selector(self) -> Selector:
        return self._selector(self._type)

    def css(self, query: str) -> SelectorList[Selector]:
        return self.selector.css(query)

    def xpath(self, query: str, **variables: Any) -> SelectorList[Selector]:
        """Select by XPath; *variables* are its ``$names``; ``namespaces`` maps prefixes."""
        return self.selector.xpath(query, **variables)

    def jmespath(self, query: str) -> SelectorList[Selector]:
        """Select in a body of JSON, whatever its Content-Type is."""
        selector = self.selector if self._type == "json" else self._selector("json")
        return selector.jmespath(query)

    def urljoin(self, href: str) -> str:
        """Return the absolute URL of *href*; if it is not valid, return it unchanged."""
        return HrefResolver(self, self._base)(href)

    def follow(
        self,
        href: str | Selector | Request,
        callback: Callable[..., Any] | str | None = None,
        **fields: Any,
    ) -> Request:
        """
        Return a request for the page that *href* leads to; yield it from the callback.

        *href* is a URL, absolute or relative, the selector of a link or of an attribute, or a
        request to copy. *callback* is a method of the spider or its name; *fields* are further
        fields of the request.
        """
        if callback is not None:
            fields["callback"] = callback
        if isinstance(href, Request):
            return href.replace(url=self.urljoin(href.url), **fields)
        found = _href(href)
        if found is None:
            raise ValueError(
                f"no link to follow in {href!r:.200}: select an element with an href, or an "
                "attribute by ::attr(name); use follow_all() for several links"
            )
        return Request(self.urljoin(found), **fields)

    def form(
        self,
        css: str = "form",
        data: Data = (),
        callback: Callable[..., Any] | str | None = None,
        *,
        click: str | bool = True,
        **fields: Any,
    ) -> Request:
        """
        Return the request that the first form selected by *css* sends when it is filled in.

        *data* has the values to enter, by the names of the fields; None leaves a field out. The
        other fields keep their values, hidden ones included. *click* selects the button to
        press by CSS; by default the first one is pressed, False presses none.
        """
        from parsel import Selector  # noqa: PLC0415 - not every crawl selects

        document = Selector(text=narrow(self.text), type="html", base_url=self._base)
        if callback is not None:
            fields["callback"] = callback
        return form_request(document, css, data, click, self.encoding, **fields)

    def follow_all(
        self,
        hrefs: Iterable[str | Selector | Request] | None = None,
        callback: Callable[..., Any] | str | None = None,
        *,
        css: str | None = None,
        xpath: str | None = None,
        **fields: Any,
    ) -> Iterator[Request]:
        """
        Yield a request for each of *hrefs*, or for each link that *css* or *xpath* selects.

        Selected elements that are not links are skipped.
        """
        if [hrefs, css, xpath].count(None) != 2 or isinstance(hrefs, str):
            raise ValueError("follow_all() takes either several links, or css=, or xpath=")
        if css is not None:
            hrefs = _with_href(self.css(css))
        elif xpath is not None:
            hrefs = _with_href(self.xpath(xpath))
        return (self.follow(href, callback, **fields) for href in hrefs or ())

    @property
    def _type(self) -> str:
        if _JSON.match(self.headers.get("content-type", "").strip()):
            return "json"
        return "xml" if is_xml(self) else "html"

    def _selector(self, kind: str) -> Selector:
        from parsel import Selector  # noqa: PLC0415 - not every crawl selects

        text = without_dtd(self.text) if kind == "xml" else self.text
        if kind == "html":
            text = narrow(text)
        return Selector(text=text, type=kind, base_url=self.url)

    @cached_property
    def _base(self) -> str:
        return base_url(self) if is_html(self) and _BASE.search(self.text) else self.url


def _href(link: str | Selector) -> str | None:
    """Return the text of an attribute, or the href of an element."""
    root = link if isinstance(link, str) else getattr(link, "root", None)
    if isinstance(root, str):
        return root
    get = getattr(root, "get", None)
    return get("href") if get else None


def _with_href(selectors: Iterable[Selector]) -> list[Selector]:
    return [selector for selector in selectors if _href(selector) is not None]
