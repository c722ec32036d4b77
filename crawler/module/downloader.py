"""Downloader: from a request to its response."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..data import Request, Response
from ..errors import DownloadError
from .base import Module, name_of


class Downloader(Module):
    """Turns a request into a response by calling *fetch*."""

    letter = "D"
    error = DownloadError

    def __init__(self, fetch: Callable[[Request], Response], **identity: Any) -> None:
        if not callable(fetch):
            raise ValueError(f"fetch must be a function from Request to Response, not {fetch!r}")
        super().__init__(**identity)
        self._fetch = fetch

    def download(self, request: Request) -> Response:
        with self._handling(request, Request, request):
            response = self._fetch(request)
            if not isinstance(response, Response):
                raise TypeError(
                    f"{name_of(self._fetch)} returned {response!r:.200}, not a Response"
                )
            if response.request.id != request.id:
                response = response.replace(request=request)
        return response
