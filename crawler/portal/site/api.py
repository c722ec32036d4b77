"""The description of the API, at its own route."""

from __future__ import annotations

from flask import Response, jsonify

from .openapi import openapi
from .visitor import Route


class Description:
    """*others* are all other routes; those that are not of the API are left out."""

    def __init__(self, others: list[Route]) -> None:
        self._others = [route for route in others if route.rule.startswith("/api/")]

    def routes(self) -> list[Route]:
        text = "This description."
        return [Route("/api/v1/openapi.json", "GET", self.description, "viewer", text)]

    def description(self) -> Response:
        return jsonify(openapi([*self.routes(), *self._others]))
