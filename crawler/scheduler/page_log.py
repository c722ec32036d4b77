"""The log of pages: one line for each response."""

from __future__ import annotations

import logging

from ..data import Response

log = logging.getLogger(__name__)


def log_page(response: Response) -> None:
    request = response.request
    log.info(
        "%d  %.0f ms  %d bytes  depth %d  %s  found on %s",
        *(response.status, response.elapsed * 1000, response.size, request.depth),
        *(response.url, request.found_on or "no page"),
    )
