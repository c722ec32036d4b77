"""PlainRows: what recovery needs of rows that need no reading one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from ...errors import JobError
from ..admission.traps import HAS_FORM, UrlGroup, start_of, starts_of
from .store import Store

#: How many ids a group spans.
_SPAN = 2000
_FIRST_ID, _LAST_ID = -(2**63), 2**63 - 1
#: Stands between URLs, which do not have it; where one has, there are too many parts.
_BETWEEN = "\x1f"
#: Types are made sure of where damage may have changed them: the seals are checked later.
_JOINED = f"""
SELECT count(*), count(status), max(CAST(depth AS INTEGER)), count(found_on),
    group_concat(url, '{_BETWEEN}'), group_concat(found_on, '{_BETWEEN}'),
    group_concat(CASE WHEN {HAS_FORM} THEN url ELSE '' END, '{_BETWEEN}')
FROM urls WHERE id BETWEEN ? AND ? AND """  # noqa: S608 - nothing but constants
_ONE_BY_ONE = """
SELECT CAST(url AS TEXT), CAST(depth AS INTEGER), CAST(found_on AS TEXT)
FROM urls WHERE id BETWEEN ? AND ? AND """


class PlainRows(NamedTuple):
    """Some *rows*, how many of them are done, and their *urls*."""

    rows: int
    done: int
    urls: UrlGroup


def plain_rows(store: Store, plain: str) -> Iterator[PlainRows]:
    """
    Yield all rows of which the condition *plain* is true, in groups, in their order.

    SQLite joins the texts of a group, since a row of its own for each URL would take Python
    several times as long.
    """
    last = _FIRST_ID
    while (first := _next_id(store, last)) is not None:
        last = min(first + _SPAN, _LAST_ID)
        ids = first, last
        one_by_one = partial(_read, store, _ONE_BY_ONE + plain, *ids)
        (joined,) = _read(store, _JOINED + plain, *ids)
        yield _group(joined, one_by_one)


def _next_id(store: Store, last: int) -> int | None:
    found: int | None = next(store.rows("SELECT min(id) FROM urls WHERE id > ?", last))[0]
    return found


def _read(store: Store, query: str, *values: int) -> list[Any]:
    """Return what *query* finds; from the first damaged text on, text is read with its faults."""
    try:
        return list(store.rows(query, *values))
    except JobError:
        store.read_any_text()
        return list(store.rows(query, *values))


def _group(joined: Sequence[Any], one_by_one: Callable[[], list[Any]]) -> PlainRows:
    rows, done, deepest, found, urls, *texts = joined
    pages, forms = ([] if text is None else text.split(_BETWEEN) for text in texts)
    starts = _starts(urls) if rows else []
    if (len(starts), len(pages), len(forms)) == (rows, found, rows):
        with_form = [url for url in forms if url]
        return PlainRows(rows, done, UrlGroup(starts, pages, deepest or 0, with_form, one_by_one))
    return PlainRows(rows, done, UrlGroup.of(one_by_one()))


def _starts(text: str) -> list[str]:
    """Return the starts of the URLs in *text*; quickly if all have the same."""
    first = start_of(text.partition(_BETWEEN)[0])
    number = text.count(_BETWEEN) + 1
    if text.count(_BETWEEN + first) + 1 == number and first.endswith("/"):
        return [first] * number
    return starts_of(text.split(_BETWEEN))
