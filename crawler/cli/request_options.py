"""The options of a request: its method, header fields, body, cookies and login."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..data import Request

#: The variable with the password of --auth: other users can read a command line.
PASSWORD = "CRAWLER_PASSWORD"  # noqa: S105 - the name of it

F = TypeVar("F", bound="Callable[..., Any]")

_REQUEST_OPTIONS = (
    click.option("-X", "--method", help="The method.  [default: GET, or POST with a body]"),
    click.option(
        "-H",
        "--header",
        "fields",
        multiple=True,
        metavar="'NAME: VALUE'",
        help="Send a header field; repeatable.",
    ),
    click.option("-d", "--data", help="Send this body, as a form unless -H names another type."),
    click.option("--json-body", metavar="JSON", help="Send this JSON document as the body."),
    click.option("--cookies", default="", metavar="'A=B; C=D'", help="Send these cookies."),
    click.option(
        "--auth",
        "user",
        metavar="USER",
        help=f"Log in with the password in {PASSWORD}, or else ask for it.",
    ),
)


def with_request_options(command: F) -> F:
    for option in reversed(_REQUEST_OPTIONS):
        command = option(command)
    return command


def request_of(
    url: str,
    *,
    method: str | None,
    fields: Sequence[str],
    data: str | None,
    json_body: str | None,
    cookies: str,
    user: str | None,
) -> Request:
    """Return the request that the options describe; raise a usage error if one is wrong."""
    from ..data import Request
    from ..settings.header_fields import field_of

    try:
        headers = [*map(field_of, fields)]
        content, body = _content(data, json_body)
        if user is not None:
            if "authorization" in (name.lower() for name, _ in headers):
                raise ValueError("a request has one login: give --auth or -H Authorization")
            headers.append(("Authorization", _login(user)))
        if content and "content-type" not in (name.lower() for name, _ in headers):
            headers.append(("Content-Type", content))
        usual = "POST" if content else "GET"
        return Request(url, method or usual, headers=headers, body=body, cookies=_cookies(cookies))
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _content(data: str | None, json_text: str | None) -> tuple[str, str]:
    """Return the Content-Type and the body; both are empty if there is none."""
    if data is not None and json_text is not None:
        raise ValueError("a request has one body: give -d or --json-body, not both")
    if json_text is None:
        return ("", "") if data is None else ("application/x-www-form-urlencoded", data)
    try:
        json.loads(json_text)
    except ValueError as error:
        raise ValueError(f"--json-body is not JSON: {error}") from None
    return "application/json", json_text


def _cookies(text: str) -> dict[str, str]:
    found = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        name, equals, value = part.partition("=")
        if not equals:
            raise ValueError("--cookies needs 'NAME=VALUE; NAME=VALUE'")
        found[name.strip()] = value.strip()
    return found


def _login(user: str) -> str:
    from ..credentials import basic_login

    if ":" in user:
        raise ValueError(
            f"--auth takes a user without a password: set {PASSWORD}, or type it when asked"
        )
    return basic_login(user, _password(user))


def _password(user: str) -> str:
    given = os.environ.get(PASSWORD)
    if given is not None:
        return given
    if not sys.stdin.isatty():
        raise ValueError(f"--auth needs a password: set the environment variable {PASSWORD}")
    typed: str = click.prompt(f"Password of {user}", hide_input=True, err=True)
    return typed
