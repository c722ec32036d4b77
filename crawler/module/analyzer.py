"""Analyzer: from a response to the requests and items found in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ..data import Item, Link, Request, Response, new_id
from ..errors import AnalyzeError, InvalidURL
from ..url import resolve
from .base import Module, name_of, one_of

#: What a parser may yield: requests, URLs (relative ones too), mappings and dataclasses.
Parser = Callable[[Response], Iterable[Any] | None]
#: What becomes of it.
Found = Request | Link | Item


class Analyzer(Module):
    """
    Lets every parser see the whole response and passes on what they find.

    What one parser raises does not stop the others; what it found before counts.
    """

    letter = "A"
    error = AnalyzeError
    # An analysis is a generator: closing it is giving up, not a failure.
    passing = (*Module.passing, GeneratorExit)

    def __init__(self, *parsers: Parser, **identity: Any) -> None:
        if not parsers:
            raise ValueError("an analyzer needs at least one parser")
        for number, parse in enumerate(parsers):
            if not callable(parse):
                raise ValueError(f"parser {number} must be a function of a Response, not {parse!r}")
        super().__init__(**identity)
        self.parsers = parsers

    def analyze(self, response: Response) -> Iterator[Found]:
        """Yield what the parsers find; then raise what failed, if anything did."""
        origin = response.request if isinstance(response, Response) else None
        with self._handling(response, Response, origin):
            failures: list[BaseException] = []
            for parse in self.parsers:
                yield from self._run(parse, response, failures)
            if failures:
                raise one_of(failures, "parsers failed")

    def _run(
        self, parse: Parser, response: Response, failures: list[BaseException]
    ) -> Iterator[Found]:
        outputs = _outputs(parse, response)
        while True:
            # The parser runs inside next(), and nothing else does: what is raised here is its own.
            try:
                found = next(outputs)
            except StopIteration:
                return
            except Module.passing:
                raise
            except BaseException as failure:  # user code may raise anything
                failures.append(failure)
                return
            if found is None:
                continue
            try:
                datum = _datum(found, response, parse)
            except Exception as failure:  # what was yielded may not even be printable
                failures.append(failure)
            else:
                yield datum

    def _extra(self) -> dict[str, Any]:
        return {"parser_number": len(self.parsers)}


def is_item(value: object) -> bool:
    if isinstance(value, Mapping):
        return True
    plain = dataclasses.is_dataclass(value) and not isinstance(value, type)
    return plain and not isinstance(value, Request | Response | Item)


def found_in(response: Response, found: Request | str) -> Request | Link:
    """Return *found* as met in *response*: the only place where depth grows."""
    depth = response.depth + 1
    if isinstance(found, str):
        return Link(_absolute(response.url, found), depth, response.url)
    return found.replace(depth=depth, found_on=response.url, redirects=(), attempts=(), id=new_id())


def _outputs(parse: Parser, response: Response) -> Iterator[Any]:
    found = parse(response)
    if found is None:
        return
    if isinstance(found, Mapping | str | bytes) or not isinstance(found, Iterable):
        raise TypeError(
            f"{name_of(parse)} returned {found!r:.200}, not a list or generator of findings"
        )
    yield from found


def _datum(found: Any, response: Response, parse: Parser) -> Found:
    if isinstance(found, str | Request):
        return found_in(response, found)
    if is_item(found):
        return Item(found, response.request)
    raise TypeError(
        f"{name_of(parse)} yielded {found!r:.200}, not a request, a URL, a mapping or a dataclass"
    )


def _absolute(base: str, href: str) -> str:
    """Resolve *href*; one that is no URL stays as it is, for the frontier to refuse and count."""
    try:
        return resolve(base, href)
    except InvalidURL:
        return str.__str__(href)
