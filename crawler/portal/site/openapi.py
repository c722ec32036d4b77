"""The description of the API (OpenAPI 3.1), made of its routes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from pydantic import TypeAdapter

from ..._distribution import __version__
from .answers import Problem
from .visitor import Route

_PARAMETER = re.compile(r"<(?:int:)?(\w+)>")


def openapi(routes: Iterable[Route]) -> dict[str, Any]:
    paths: dict[str, Any] = {}
    for route in routes:
        path = _PARAMETER.sub(r"{\1}", route.rule)
        paths.setdefault(path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "crawler portal", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": {"Problem": TypeAdapter(Problem).json_schema()},
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": "crawler_portal"},
            },
        },
        "security": [{"token": []}, {"session": []}],
    }


def _operation(route: Route) -> dict[str, Any]:
    problem = {"schema": {"$ref": "#/components/schemas/Problem"}}
    schema = TypeAdapter(route.answer).json_schema() if route.answer else {"type": "object"}
    return {
        "summary": route.summary,
        "description": f"For the role {route.role} and above.",
        "parameters": [*_in_path(route.rule), *map(_in_query, route.query)],
        "responses": {
            "200": {"description": "OK", "content": {"application/json": {"schema": schema}}},
            "default": {
                "description": "It failed.",
                "content": {"application/problem+json": problem},
            },
        },
    }


def _in_path(rule: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "integer"}}
        for name in _PARAMETER.findall(rule)
    ]


def _in_query(name: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": {"type": "string"}}
