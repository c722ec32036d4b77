"""Downloader: turns a request into its response."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any

from ..body_file import saved
from ..data import Request, Response
from ..errors import DownloadError
from .base import Module, name_of


class Downloader(Module):
    """
    Turns a request into a response by calling *fetch*.

    *receiving* returns the bytes of bodies that have been received of responses that are not
    whole yet; the default is the method of that name of *fetch*, if there is one.
    """

    letter = "D"
    error = DownloadError

    def __init__(
        self,
        fetch: Callable[[Request], Response],
        *,
        receiving: Callable[[], int] | None = None,
        **identity: Any,
    ) -> None:
        if not callable(fetch):
            raise ValueError(f"fetch must be a function from Request to Response, not {fetch!r}")
        super().__init__(**identity)
        self._fetch = fetch
        own: Callable[[], int] = getattr(fetch, "receiving", int)
        self.receiving = own if receiving is None else receiving

    def download(self, request: Request) -> Response:
        # Not in the context that other modules use: this is faster, and runs for every page.
        counts, began = self._begin(request, Request, request), monotonic()
        try:
            response = self._fetch(request)
            if not isinstance(response, Response):
                raise TypeError(
                    f"{name_of(self._fetch)} returned {response!r:.200}, not a Response"
                )
            if response.request is not request and response.request.id != request.id:
                response = response.replace(request=request)
            if request.save_to is not None:  # other fetch functions than ours do not know it
                response = saved(response)
        except BaseException as cause:
            self._fail(counts, began, request, cause)
            raise
        counts.end(began, failed=False)
        return response
