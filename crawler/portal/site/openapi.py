"""The description of the API (OpenAPI 3.1), made of its routes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import TypeAdapter

from ..._distribution import __version__
from .answers import Problem
from .visitor import Route

_PARAMETER = re.compile(r"<(int:)?(\w+)>")
_PLACE = "#/components/schemas/{model}"


def openapi(routes: Iterable[Route]) -> dict[str, Any]:
    routes = list(routes)
    paths: dict[str, dict[str, Any]] = {}
    schemas, shared = _schemas(routes)
    for route in routes:
        path = _PARAMETER.sub(r"{\2}", route.rule)
        paths.setdefault(path, {})[route.method.lower()] = _operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "crawler portal", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": shared,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": "crawler_portal"},
            },
        },
        "security": [{"token": []}, {"session": []}],
    }


def _schemas(routes: Iterable[Route]) -> tuple[Mapping[Any, Any], Mapping[str, Any]]:
    """Return the schema of each class that is sent, and those that the schemas refer to."""
    sent = {route.answer for route in routes} | {route.body for route in routes} | {Problem}
    kinds = sorted(sent - {None}, key=lambda kind: str(kind.__name__))
    wanted = [(kind, "validation", TypeAdapter(kind)) for kind in kinds]
    found, rest = TypeAdapter.json_schemas(wanted, ref_template=_PLACE)
    return {kind: schema for (kind, _), schema in found.items()}, rest.get("$defs", {})


def _operation(route: Route, schemas: Mapping[Any, Any]) -> dict[str, Any]:
    header = {"If-Match": {"PUT", "DELETE"}, "Idempotency-Key": {"POST"} if route.is_once else ()}
    named = [_header(name) for name, methods in header.items() if route.method in methods]
    operation = {
        "summary": route.summary,
        "description": f"For the role {route.role} and above; a token needs the scope "
        f"{route.least_scope}.",
        "parameters": [*_in_path(route.rule), *map(_in_query, route.query), *named],
        "responses": {
            str(route.status): _content("OK", route.media, schemas.get(route.answer)),
            "default": _content("It failed.", "application/problem+json", schemas[Problem]),
        },
    }
    if route.body:
        body = _content("", "application/json", schemas[route.body])
        operation["requestBody"] = {"required": True, "content": body["content"]}
    return operation


def _content(text: str, media: str, schema: Any) -> dict[str, Any]:
    return {"description": text} | ({"content": {media: {"schema": schema or {}}}} if media else {})


def _in_path(rule: str) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "integer" if kind else "string"},
        }
        for kind, name in _PARAMETER.findall(rule)
    ]


def _in_query(name: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": {"type": "string"}}


def _header(name: str) -> dict[str, Any]:
    is_needed = name == "If-Match"
    return {"name": name, "in": "header", "required": is_needed, "schema": {"type": "string"}}
