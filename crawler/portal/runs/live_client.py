"""LiveClient: asks the live page of a run, in another process of this machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode, urlsplit

from ..figures import RunFigures
from .process import RunProcess

#: Seconds to wait for an answer.
_TIMEOUT = 20.0
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class LiveClient:
    def __init__(self, process: RunProcess) -> None:
        self._url = process.live_url

    def figures(self) -> RunFigures | None:
        """Return the figures of the run; None if it does not answer."""
        answer = self._ask("GET", "api/v1/figures")
        return None if answer is None else RunFigures.from_dict(json.loads(answer))

    def host_states(self) -> dict[str, int]:
        """Return how many hosts are in each state; nothing if the run does not answer."""
        answer = self._ask("GET", "api/v1/hosts")
        return {} if answer is None else dict(json.loads(answer))

    def post(self, command: str, form: Mapping[str, str] = MappingProxyType({})) -> bool:
        """Send a command, with the fields of its *form*; return whether the run has taken it."""
        return self._ask("POST", command, urlencode(form)) is not None

    def _ask(self, method: str, route: str, body: str | None = None) -> Any:
        if not self._url:
            return None
        parts = urlsplit(self._url)
        connection = HTTPConnection(parts.hostname or "", parts.port, timeout=_TIMEOUT)
        try:
            connection.request(method, parts.path + route, body, _FORM if body else {})
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, HTTPException):
            return None
        finally:
            connection.close()
        return text if answer.status < 400 else None
