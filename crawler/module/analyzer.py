"""Analyzer: from a response to the requests and items found in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from operator import attrgetter
from types import GeneratorType
from typing import Any, Protocol

from ..data import Item, Link, Request, Response, new_id
from ..errors import AnalyzeError, InvalidURL, ModuleError
from ..url import resolve
from .base import Module, name_of, one_of

#: What a parser may yield: requests, URLs (relative ones too), mappings and dataclasses.
Parser = Callable[[Response], Iterable[Any] | None]
#: What is to be done about an error: the same.
Recover = Callable[[ModuleError], Iterable[Any] | None]
#: What becomes of it.
Found = Request | Link | Item

#: What a request may ask for beyond its URL.
_wishes = attrgetter(
    "method",
    "headers",
    "body",
    "cookies",
    "meta",
    "priority",
    "timeout",
    "proxy",
    "callback",
    "errback",
    "dont_filter",
)
_NO_WISHES = _wishes(Request("about:blank"))

#: The depth from which on a URL that was met before is turned away, and the reason.
Verdict = tuple[int, str]


class Verdicts(Protocol):
    """What was said of URLs before, and need not be found out again."""

    @property
    def on(self) -> Callable[[str], Verdict | None]:
        """What was said of a URL, None if nothing was."""

    def count(self, met: list[Verdict], depth: int) -> None:
        """Be told of the verdicts that were met at *depth*, one for each URL left out."""


class _NoVerdicts:
    def on(self, _url: str) -> None:
        """Say nothing."""

    def count(self, met: list[Verdict], depth: int) -> None:
        """Do nothing: where nothing is known, nothing is met."""


NO_VERDICTS: Verdicts = _NoVerdicts()


class Analyzer(Module):
    """
    Lets every parser see the whole response and passes on what they find.

    What one parser raises does not stop the others; what it found before counts. With
    *recover*, errors of downloads that failed for good are analysed as well.
    """

    letter = "A"
    error = AnalyzeError
    # An analysis is a generator: closing it is giving up, not a failure.
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

    def analyze(
        self, response: Response, verdicts: Verdicts = NO_VERDICTS
    ) -> Generator[Found, None, None]:
        """
        Yield what the parsers find; then raise what failed, if anything did.

        URLs that *verdicts* knows are left out, and counted there.
        """
        yield from self._work(response, Response, self.parsers, verdicts)

    def recover(self, error: ModuleError) -> Generator[Found, None, None]:
        """Yield what is to be done about a download that failed for good."""
        yield from self._work(error, ModuleError, (self._recover,), NO_VERDICTS)

    def _work(
        self, origin: Any, kind: type, parsers: Iterable[Any], verdicts: Verdicts
    ) -> Iterator[Found]:
        request: Request | None = origin.request if isinstance(origin, kind) else None  # type: ignore[attr-defined]
        with self._handling(origin, kind, request):
            failures: list[BaseException] = []
            for found in getattr(origin, "found", ()):
                yield found_in(origin, found)
            met: list[Verdict] = []
            try:
                for parse in parsers:
                    yield from self._run(parse, origin, failures, verdicts.on, met)
            finally:
                verdicts.count(met, origin.request.depth + 1)
            if failures:
                raise one_of(failures, "parsers failed")

    def _run(
        self,
        parse: Parser,
        origin: Response | ModuleError,
        failures: list[BaseException],
        verdict_on: Callable[[str], Verdict | None],
        met: list[Verdict],
    ) -> Iterator[Found]:
        outputs: Iterable[Any] = ()
        is_called = False
        depth = origin.request.depth + 1
        while True:
            # The parser runs here, and nothing else that could raise: what is raised is its own.
            try:
                if not is_called:
                    is_called = True
                    outputs = _outputs(parse, origin)
                for found in outputs:
                    if type(found) is not str:
                        break
                    verdict = verdict_on(found)
                    if verdict is None or verdict[0] > depth:
                        break
                    met.append(verdict)
                else:
                    return
            except Module.passing:
                raise
            except BaseException as failure:  # user code may raise anything
                failures.append(failure)
                return
            if found is None:
                continue
            try:
                datum = _datum(found, origin, parse)
            except Exception as failure:  # what was yielded may not even be printable
                failures.append(failure)
            else:
                yield datum

    def _extra(self) -> dict[str, Any]:
        return {"parser_number": len(self.parsers)}


def is_item(value: object) -> bool:
    """A mapping, or an instance of a dataclass, an attrs class or a pydantic model."""
    if type(value) is dict or isinstance(value, Mapping):
        return True
    if isinstance(value, type | Request | Response | Item | Link):
        return False
    kind = type(value)
    return dataclasses.is_dataclass(kind) or any(
        hasattr(kind, name) for name in ("__attrs_attrs__", "__pydantic_fields__")
    )


def found_in(origin: Response | ModuleError, found: Request | str) -> Request | Link:
    """
    Return *found* as met in *origin*: the only place where depth grows.

    A request that asks for nothing but its URL is a link, which costs less here and wherever
    it is passed on.
    """
    page = origin.url if isinstance(origin, Response) else origin.request.url
    depth = origin.request.depth + 1
    if isinstance(found, str):
        return Link(_absolute(page, found), depth, page)
    url = found.url if "://" in found.url else _absolute(page, found.url)
    if type(found) is Request and _wishes(found) == _NO_WISHES:
        return Link(url, depth, page)
    return found.replace(
        url=url, depth=depth, found_on=page, redirects=(), attempts=(), id=new_id()
    )


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
    raise TypeError(
        f"{name_of(parse)} yielded {found!r:.200}, not a request, a URL, a mapping or a dataclass"
    )


def _absolute(base: str, href: str) -> str:
    """Resolve *href*; one that is no URL stays as it is, for the frontier to refuse and count."""
    try:
        return resolve(base, href)
    except InvalidURL:
        return str.__str__(href)
