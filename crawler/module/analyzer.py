"""Analyzer: finds requests and items in a response."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from itertools import chain, islice
from operator import attrgetter
from types import GeneratorType
from typing import Any

from ..data import Item, Links, LostItem, Request, Response, is_item, new_id
from ..errors import AnalyzeError, ModuleError
from ..url import resolve_or_keep
from .base import Module, name_of, one_of

#: A parser may yield requests, URLs (relative ones too), mappings and dataclasses.
Parser = Callable[[Response], Iterable[Any] | None]
#: Called with the error of a failed download; may yield the same.
Recover = Callable[[ModuleError], Iterable[Any] | None]
#: What an analyzer yields for them.
Found = Request | Links | Item | LostItem

#: The fields by which a request differs from a link.
_options = attrgetter(
    "method",
    "headers",
    "body",
    "cookies",
    "meta",
    "priority",
    "timeout",
    "proxy",
    "callback",
    "cb_kwargs",
    "save_to",
    "errback",
    "dont_filter",
)
_NO_OPTIONS = _options(Request("about:blank"))

#: URLs that are passed on together at most.
CHUNK = 256
#: The characters that are passed on of a URL of another scheme, which may be a whole picture.
_SHOWN = 200


class Analyzer(Module):
    """
    Passes each response to every parser and yields what they find.

    An exception in one parser does not stop the others, and what it found before is kept. With
    *recover*, errors of downloads that failed for good are analysed too.
    """

    letter = "A"
    error = AnalyzeError
    # An analysis is a generator: to close it is to abandon it, not a failure.
    passing = (*Module.passing, GeneratorExit)

    def __init__(self, *parsers: Parser, recover: Recover | None = None, **identity: Any) -> None:
        if not parsers:
            raise ValueError("an analyzer needs at least one parser")
        for number, parse in enumerate(parsers):
            if not callable(parse):
                raise ValueError(f"parser {number} must be a function of a Response, not {parse!r}")
        super().__init__(**identity)
        self.parsers = parsers
        self.recovers = recover is not None
        self._recover: Any = recover

    def analyze(self, response: Response) -> Generator[Found, None, None]:
        """
        Yield what the parsers find; then raise an error if a parser failed.

        URLs are collected until there are CHUNK of them, or something else is found.
        """
        yield from self._work(response, Response, self.parsers)

    def recover(self, error: ModuleError) -> Generator[Found, None, None]:
        """Yield what the *recover* function finds for a download that failed for good."""
        yield from self._work(error, ModuleError, (self._recover,))

    def _work(self, origin: Any, kind: type, parsers: Iterable[Any]) -> Iterator[Found]:
        request: Request | None = origin.request if isinstance(origin, kind) else None  # type: ignore[attr-defined]
        with self._handling(origin, kind, request):
            failures: list[BaseException] = []
            for found in getattr(origin, "found", ()):
                yield found_in(origin, found)
            for parse in parsers:
                yield from self._run(parse, origin, failures)
            yield from _left_out(origin)
            if failures:
                raise one_of(failures, "parsers failed")

    def _run(
        self, parse: Parser, origin: Response | ModuleError, failures: list[BaseException]
    ) -> Iterator[Found]:
        page, depth = _page_and_depth(origin)
        outputs: Iterator[Any] | None = None
        url: str | None = None
        urls: list[str] = []
        is_over = False
        while not is_over:
            # Only the parser can raise in here, so what is raised is its failure.
            try:
                outputs = _outputs(parse, origin) if outputs is None else outputs
                for found in islice(outputs, CHUNK):
                    url = found if type(found) is str else _plain_url(found)
                    if url is None:
                        break
                    urls.append(url)
                else:
                    is_over = len(urls) < CHUNK
            except Module.passing:
                raise
            except BaseException as failure:  # user code may raise anything
                failures.append(failure)
                is_over = True
            if urls:
                yield Links(urls, depth, page)
                urls = []
            if is_over or url is not None or found is None:
                continue
            try:
                datum = _datum(found, origin, parse)
            except Exception as failure:  # what was yielded may not even be printable
                failures.append(failure)
            else:
                yield datum

    def _extra(self) -> dict[str, Any]:
        return {"parser_number": len(self.parsers)}


def found_in(origin: Response | ModuleError, found: Request | str) -> Request | Links:
    """Return the request or link for *found*, with *origin* as the page it was found on."""
    page, depth = _page_and_depth(origin)
    text = found if isinstance(found, str) else _plain_url(found)
    if text is not None or isinstance(found, str):
        return Links([str.__str__(text)], depth, page)
    url = found.url if "://" in found.url else resolve_or_keep(page, found.url)
    return found.replace(
        url=url, depth=depth, found_on=page, redirects=(), attempts=(), id=new_id()
    )


def links_in(
    origin: Response | ModuleError, urls: Iterable[str], refusal: str = ""
) -> Iterator[Links]:
    """Yield *urls*, which were found in *origin*, in chunks."""
    page, depth = _page_and_depth(origin)
    rest = iter(urls)
    while some := list(islice(rest, CHUNK)):
        yield Links(some, depth, page, refusal)


def _left_out(origin: Response | ModuleError) -> Iterator[Links]:
    """Yield each link once that links() has left out of what it found in a page."""
    if not isinstance(origin, Response):
        return
    if origin.left_out:
        urls = dict.fromkeys(chain.from_iterable(origin.left_out))
        yield from links_in(origin, urls, "nofollow")
    # They are known when all links have been read.
    if others := dict.fromkeys(chain.from_iterable(origin.not_pages)):
        yield from links_in(origin, (url[:_SHOWN] for url in others), "scheme")


def _page_and_depth(origin: Response | ModuleError) -> tuple[str, int]:
    """Return the URL that relative findings are resolved against, and the depth of findings."""
    page = origin.url if isinstance(origin, Response) else origin.request.url
    return page, origin.request.next_depth


def _plain_url(found: Any) -> str | None:
    """Return the URL of a request that has only a URL: it is a link. Otherwise return None."""
    if type(found) is Request and _options(found) == _NO_OPTIONS:
        return found.url
    return None


def _outputs(parse: Parser, origin: Any) -> Iterator[Any]:
    found: Any = parse(origin)
    if type(found) is GeneratorType:
        return found
    if found is None:
        return iter(())
    if isinstance(found, Mapping | str | bytes) or not isinstance(found, Iterable):
        raise TypeError(
            f"{name_of(parse)} returned {found!r:.200}, not a list or generator of findings"
        )
    return iter(found)


def _datum(found: Any, origin: Response | ModuleError, parse: Parser) -> Found:
    if isinstance(found, str | Request):
        return found_in(origin, found)
    if is_item(found):
        return Item(found, origin.request)
    if isinstance(found, LostItem | Links):
        return found
    raise TypeError(
        f"{name_of(parse)} yielded {found!r:.200}, not a request, a URL, a mapping or a dataclass"
    )
