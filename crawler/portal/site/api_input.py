"""What programs send: bodies that are checked, and the version of a thing that they have read."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, TypeVar

from flask import Response, jsonify, request
from pydantic import TypeAdapter, ValidationError
from werkzeug.exceptions import (
    PreconditionFailed,
    PreconditionRequired,
    UnprocessableEntity,
    UnsupportedMediaType,
)

Body = TypeVar("Body")

#: A number of something in the store, which has numbers of 64 bits.
NUMBER = re.compile("[0-9]{1,18}")


class Invalid(UnprocessableEntity):  # type: ignore[misc]
    """*errors* says of each field what is wrong with it."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name}: {text}" for name, text in errors.items()))
        self.errors = dict(errors)


def read_body(kind: type[Body]) -> Body:
    """Return the body of the request as a *kind*; raise Invalid, which names what is wrong."""
    if request.mimetype != "application/json":
        raise UnsupportedMediaType("Send application/json.")
    try:
        body: Body = TypeAdapter(kind).validate_json(request.get_data())
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        names = (".".join(map(str, one["loc"])) or "body" for one in found)
        raise Invalid({name: one["msg"] for name, one in zip(names, found, strict=True)}) from None
    return body


def number_of(text: str) -> int:
    """Return the number that a request names; 0 if it is not a number, or larger than any in the store."""
    return int(text) if NUMBER.fullmatch(text) else 0


def number_in_query(name: str, default: int, most: int) -> int:
    given: int = request.args.get(name, default, int)
    return min(max(given, 0), most)


def etag_of(thing: Any) -> str:
    """Return what changes whenever *thing*, a dataclass, does."""
    text = json.dumps(asdict(thing), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def answer(value: Any, etag: str = "", status: int = 200) -> Response:
    response = jsonify(asdict(value))
    response.status_code = status
    if etag:
        response.set_etag(etag)
    return response


def check_match(etag: str) -> None:
    """Raise unless the request names, as If-Match, the version of the thing that is there."""
    if not request.if_match:
        raise PreconditionRequired("Send the ETag of what you have read as If-Match.")
    if etag not in request.if_match:
        raise PreconditionFailed("It was changed since you have read it: read it again.")
