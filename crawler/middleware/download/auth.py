"""HTTP authentication, for one origin."""

from __future__ import annotations

import re
from base64 import b64encode

from .headers import DefaultHeaders

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class HttpAuth(DefaultHeaders):
    """
    Gives *user* and *password* (Basic, RFC 7617) to *origin*, and to no other.

    An origin is scheme, host and port: a redirect to another of any of the three goes
    without. An Authorization field that a request has already is left alone.
    """

    def __init__(self, user: str, password: str, origin: str) -> None:
        if ":" in user or _CONTROL.search(user + password):
            raise ValueError(
                "a user has no colon, and neither user nor password control characters"
            )
        token = b64encode(f"{user}:{password}".encode()).decode()
        super().__init__({"Authorization": f"Basic {token}"}, origin)
