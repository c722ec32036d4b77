"""Limits on the time and the memory that one exchange may use."""

from __future__ import annotations

from dataclasses import dataclass, fields

from ..errors import FetchError

MIB = 2**20


@dataclass(frozen=True, kw_only=True)
class Limits:
    """
    The limits of one exchange; times in seconds, sizes in bytes.

    *total* covers everything from the name lookup to the last byte, unless the request
    has a timeout of its own; *connect* ends with the TLS handshake; *stall* is the longest
    time without any data. With CurlFetch, time for which a callback keeps the hub from running
    counts for none of them. *body* limits the body as received, and again as decoded, so an
    exchange never needs more than twice that. *file* and *file_total* replace *body* and *total*
    where the body is saved to a file.
    """

    connect: float = 10.0
    total: float = 60.0
    stall: float = 30.0
    body: int = 10 * MIB
    headers: int = 256 * 1024
    file: int = 1024 * MIB
    file_total: float = 3600.0

    def __post_init__(self) -> None:
        for limit in fields(self):
            if not getattr(self, limit.name) > 0:
                raise ValueError(f"{limit.name} must be more than 0")

    def check_headers(self, size: int) -> None:
        if size > self.headers:
            raise FetchError("too_large", f"the headers are larger than {self.headers} bytes")
