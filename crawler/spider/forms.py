"""The request that a form of a page would send, filled in as a browser does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ..charset import codec_of
from ..data import Request

if TYPE_CHECKING:
    from parsel import Selector

#: Names and values of fields; None leaves a field out.
Data: TypeAlias = "Mapping[str, Any] | Iterable[tuple[str, Any]]"


def form_request(
    document: Selector, css: str, data: Data, click: str | bool, encoding: str, **fields: Any
) -> Request:
    """
    Return the request of the first form that *css* selects in *document*.

    Fields that *data* does not name keep the values that the page gives them, hidden ones
    included. *click* selects the button to press; True is the first one, False none.
    """
    from form2request import form2request  # noqa: PLC0415 - few crawls send forms

    form = _one(document, css, "form")
    for disabled in form.css("[disabled]"):  # a browser sends none of these
        disabled.drop()
    button = _one(form, click, "button") if isinstance(click, str) else click
    try:
        filled = form2request(form, _plain(data), click=None if button is True else button)
    except NotImplementedError as error:
        raise ValueError(f"the form {css!r} cannot be sent: {error}") from None
    url, body = filled.url, filled.body.decode()
    encoding = _encoding_of(form, encoding)
    if encoding not in ("utf-8", "ascii"):
        parts = urlsplit(url)
        url = urlunsplit(parts._replace(query=_encoded(parts.query, encoding)))
        body = _encoded(body, encoding)
    return Request(url, method=filled.method, headers=filled.headers, body=body, **fields)


def _encoding_of(form: Selector, of_page: str) -> str:
    """Return the encoding in which *form* is sent: the first that it accepts, or that of its page."""
    labels = form.attrib.get("accept-charset")
    known = [of_page] if labels is None else map(codec_of, labels.split())
    name = next(filter(None, known), "utf-8")
    return "utf-8" if name.startswith("utf-16") else name


def _plain(data: Data) -> Any:
    return dict(data) if isinstance(data, Mapping) else list(data)


def _one(within: Selector, css: str, what: str) -> Selector:
    found = within.css(css)
    if not found:
        raise ValueError(f"no {what} is selected by {css!r}")
    return found[0]


def _encoded(query: str, encoding: str) -> str:
    """Return *query*, in UTF-8, in the encoding of the page, as browsers send it."""
    pairs = parse_qsl(query, keep_blank_values=True)
    return urlencode(pairs, encoding=encoding, errors="xmlcharrefreplace")
