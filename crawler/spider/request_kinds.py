"""FormRequest and JsonRequest, called as in Scrapy: each makes a plain Request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..data import Request
from ..request_content import Pairs
from .forms import Data
from .page import Page


class FormRequest:
    """
    A request with the fields of a form: ``FormRequest(url, formdata={"name": "Ada"})``.

    The fields are the body, or the query if *method* is GET. The other arguments are those of
    Request, which is what is made.
    """

    def __new__(  # type: ignore[misc]  # callers want the Request
        cls,
        url: str,
        callback: Any = None,
        method: str = "",
        *,
        formdata: Pairs | None = None,
        **fields: Any,
    ) -> Request:
        if formdata:
            fields["params" if method.upper() == "GET" else "form"] = formdata
        return Request(url, method or "GET", callback=callback, **fields)

    @staticmethod
    def from_response(
        response: Page,
        formname: str | None = None,
        formid: str | None = None,
        formdata: Data | None = None,
        clickdata: Mapping[str, str] | None = None,
        dont_click: bool = False,
        formcss: str | None = None,
        **fields: Any,
    ) -> Request:
        """
        Return the request of a form of *response*, filled in with *formdata*: as page.form().

        The form is the first one with this name, this id, or selected by this CSS. *clickdata* has
        attributes of the button to press.
        """
        css = _with("form", {"name": formname, "id": formid}) if formname or formid else formcss
        click = False if dont_click else _with("", clickdata) if clickdata else True
        return response.form(css or "form", formdata or (), click=click, **fields)


def JsonRequest(  # noqa: N802 - called as the class that it is in Scrapy
    url: str, callback: Any = None, *, data: Any = None, **fields: Any
) -> Request:
    """Return a request with *data* as a JSON document: by POST, unless *method* says otherwise."""
    return Request(url, callback=callback, json=data, **fields)


def _with(element: str, attributes: Mapping[str, str | None]) -> str:
    """Return CSS for an *element* that has *attributes*; those that are None do not count."""
    named = ((name, value) for name, value in attributes.items() if value is not None)
    return element + "".join(f'[{name}="{_quoted(value)}"]' for name, value in named)


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')
