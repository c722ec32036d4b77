"""The query of a URL and the body of a request, made from the values that users give."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias
from urllib.parse import urlencode

#: Names and values; a value that is a list stands for several fields of that name.
Pairs: TypeAlias = "Mapping[str, Any] | Iterable[tuple[str, Any]]"


def with_query(url: str, params: Pairs) -> str:
    """Return *url* with *params* after the query that it has."""
    added = _encoded(params, "params")
    whole, mark, fragment = url.partition("#")
    if not added:
        return url
    joint = "" if whole.endswith(("?", "&")) else "&" if "?" in whole else "?"
    return f"{whole}{joint}{added}{mark}{fragment}"


def form_body(form: Pairs) -> tuple[str, bytes]:
    """Return the Content-Type and the body of a form that is sent by POST."""
    return "application/x-www-form-urlencoded", _encoded(form, "form").encode()


def json_body(value: Any) -> tuple[str, bytes]:
    """Return the Content-Type and the body of a JSON document."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        return "application/json", text.encode()
    except (TypeError, ValueError) as error:
        raise ValueError(f"json must be a value that JSON can represent: {error}") from None


def _encoded(pairs: Pairs, name: str) -> str:
    given = pairs.items() if isinstance(pairs, Mapping) else pairs
    try:
        return urlencode([(key, value) for key, value in given if value is not None], doseq=True)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must be a mapping, or pairs of names and values, not {pairs!r:.200}"
        ) from None
