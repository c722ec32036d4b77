"""
Requests, responses and errors as plain values: for a file, a table, a pipe.

The result has only types of JSON, except that bodies are bytes if *raw* and base64 text
otherwise. Fields that have their default value are omitted. In a request's meta, tuples
become lists, and keys that begin with "crawler." are omitted: they belong to the framework
and to one process. So does the trust of a crawl in hosts: only its own process gives it. Any other value that JSON cannot represent raises Unwritable, with its key.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

from .data import Request, Response, SavedBody
from .errors import (
    AnalyzeError,
    DownloadError,
    FetchError,
    ModuleError,
    PipelineError,
    Unwritable,
)
from .headers import Headers
from .read_only_dict import RequestMeta

T = TypeVar("T")

#: How deep lists and dicts may nest; much more, and Python's stack is exhausted.
_DEEPEST = 100
#: The prefix of keys in meta whose values are for this process only.
_OWN = "crawler."
_REQUEST_FIELDS = {
    name: signature(Request).parameters[name] for name in Request.__slots__ if name != "trusted"
}
_RESPONSE_FIELDS = signature(Response).parameters
#: The fields that are written in a form of their own.
_CODED = frozenset(
    {"url", "id", "headers", "body", "cookies", "meta", "cb_kwargs", "redirects", "attempts"}
)
#: The default of each field whose values are types of JSON already.
_PLAIN = {
    name: parameter.default for name, parameter in _REQUEST_FIELDS.items() if name not in _CODED
}
_ERRORS = {
    kind.__name__: kind for kind in (ModuleError, DownloadError, AnalyzeError, PipelineError)
}


def _reads(what: str) -> Callable[[Callable[[Mapping[str, Any]], T]], Callable[[Any], T]]:
    """Return a decorator for a function that raises ValueError for all that does not describe *what*."""

    def decorate(read: Callable[[Mapping[str, Any]], T]) -> Callable[[Any], T]:
        @wraps(read)
        def read_or_refuse(data: Any) -> T:
            try:
                return read(data)
            except (AttributeError, KeyError, TypeError) as error:
                reason = f"{type(error).__name__}: {error}"
                raise ValueError(f"{data!r:.200} does not describe a {what}: {reason}") from error

        return read_or_refuse

    return decorate


def request_to_dict(request: Request, *, raw: bool = False) -> dict[str, Any]:
    """Return the fields of *request*; its body is bytes if *raw*, otherwise base64 text."""
    data: dict[str, Any] = {"url": request.url, "id": request.id}
    for name, default in _PLAIN.items():
        value = getattr(request, name)
        if value != default:
            data[name] = value
    for name in ("redirects", "attempts"):
        if value := getattr(request, name):
            data[name] = list(value)
    if request.headers:
        data["headers"] = _pairs(request.headers)
    if request.cookies:
        data["cookies"] = dict(request.cookies)
    if request.body:
        data["body"] = _encoded(request.body, raw=raw)
    for name in ("meta", "cb_kwargs"):
        if (given := getattr(request, name)) and (values := _mapping(given, name, request)):
            data[name] = values
    return data


@_reads("request")
def request_from_dict(data: Mapping[str, Any]) -> Request:
    """Return the request that *data* describes; raise ValueError if it does not describe one."""
    fields = _known(data, _REQUEST_FIELDS, "request")
    for name in ("redirects", "attempts"):
        if name in fields:
            fields[name] = tuple(_texts(fields[name]))
    if "headers" in fields:
        fields["headers"] = _headers(fields["headers"])
    if "body" in fields:
        fields["body"] = _decoded(fields["body"])
    if "meta" in fields:  # not checked again: a job may have been made before its keys were
        fields["meta"] = RequestMeta(fields["meta"])
    return Request(**fields)


def response_to_dict(response: Response, *, raw: bool = False) -> dict[str, Any]:
    """Return the fields of *response*, and of its request; bodies as in request_to_dict()."""
    data: dict[str, Any] = {
        "url": response.url,
        "status": response.status,
        "request": request_to_dict(response.request, raw=raw),
    }
    if response.headers:
        data["headers"] = _pairs(response.headers)
    if response.body:
        data["body"] = _encoded(response.body, raw=raw)
    if response.elapsed:
        data["elapsed"] = response.elapsed
    if response.flags:
        data["flags"] = sorted(response.flags)
    if response.found:
        data["found"] = [request_to_dict(found, raw=raw) for found in response.found]
    if response.saved:
        data["saved"] = asdict(response.saved)
    return data


@_reads("response")
def response_from_dict(data: Mapping[str, Any]) -> Response:
    """Return the response that *data* describes; raise ValueError if it does not describe one."""
    fields = _known(data, _RESPONSE_FIELDS, "response")
    fields["request"] = request_from_dict(fields["request"])
    fields["headers"] = _headers(fields.get("headers", ()))
    fields["body"] = _decoded(fields.get("body", b""))
    fields["flags"] = frozenset(_texts(fields.get("flags", ())))
    fields["found"] = tuple(map(request_from_dict, fields.get("found", ())))
    if "saved" in fields:
        fields["saved"] = SavedBody(**fields["saved"])
    return Response(**fields)


def error_to_dict(error: ModuleError) -> dict[str, Any]:
    """Return the fields of *error*; its cause is included only if it is a FetchError."""
    kind = next(kind for kind in type(error).__mro__ if kind.__name__ in _ERRORS)
    data = {
        "type": kind.__name__,
        "module": error.module,
        "request": request_to_dict(error.request),
        "reason": error.reason,
        "kind": error.kind,
    }
    cause = error.__cause__
    if isinstance(cause, FetchError):
        data["cause"] = [cause.kind, cause.detail]
    return data


@_reads("error")
def error_from_dict(data: Mapping[str, Any]) -> ModuleError:
    request = request_from_dict(data["request"])
    error = _ERRORS[data["type"]](data["module"], request, data["reason"], data["kind"])
    if "cause" in data:
        error.__cause__ = FetchError(*data["cause"])
    return error


def _known(data: Mapping[str, Any], names: Any, what: str) -> dict[str, Any]:
    if unknown := data.keys() - names:
        raise ValueError(f"a {what} has no field {min(unknown)!r}: it has {', '.join(names)}")
    return dict(data)


def _pairs(headers: Mapping[str, str]) -> list[list[str]]:
    fields = headers.fields if isinstance(headers, Headers) else headers.items()
    return [[name, value] for name, value in fields]


def _headers(pairs: Any) -> Headers:
    return Headers([(name, value) for name, value in pairs])


def _texts(values: Any) -> Iterable[str]:
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise TypeError(f"{values!r:.200} must be a list of texts")
    return cast("Iterable[str]", values)


def _encoded(body: bytes, *, raw: bool) -> bytes | str:
    return body if raw else base64.b64encode(body).decode()


def _decoded(body: bytes | str) -> bytes:
    return body if isinstance(body, bytes) else base64.b64decode(body, validate=True)


def _mapping(values: Mapping[Any, Any], name: str, request: Request) -> dict[str, Any]:
    """Return *values*, the field *name* of *request*, without the keys of the framework."""
    return {
        key: _json(value, f"{name}[{key!r}]", request)
        for key, value in values.items()
        if not (isinstance(key, str) and key.startswith(_OWN))
        if _is_text(key, name, request)
    }


def _json(value: Any, place: str, request: Request, depth: int = 1) -> Any:
    """Return *value*, found at *place* and *depth* in *request*, with types of JSON only."""
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if isinstance(value, str):
        return str.__str__(value)  # a selector's subclass of str may keep its document alive
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if depth > _DEEPEST:
        raise Unwritable(place, value, request.url)
    if kind is list or kind is tuple:
        return [_json(one, f"{place}[{n}]", request, depth + 1) for n, one in enumerate(value)]
    if kind is dict:
        return {
            key: _json(one, f"{place}[{key!r}]", request, depth + 1)
            for key, one in value.items()
            if _is_text(key, place, request)
        }
    raise Unwritable(place, value, request.url)


def _is_text(key: object, place: str, request: Request) -> bool:
    if type(key) is not str:
        raise Unwritable(f"a key of {place}", key, request.url)
    return True
