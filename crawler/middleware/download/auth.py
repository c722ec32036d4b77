"""HTTP authentication, for one origin."""

from __future__ import annotations

import re
from base64 import b64encode

from .headers import DefaultHeaders

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


class HttpAuth(DefaultHeaders):
    """
    Sends *user* and *password* (Basic, RFC 7617) to *origin* only.

    An origin is scheme, host and port: if a redirect changes one of them, it is fetched without
    the password. A request that already has an Authorization field keeps it.
    """

    def __init__(self, user: str, password: str, origin: str) -> None:
        if ":" in user or _CONTROL.search(user + password):
            raise ValueError(
                "user must have no colon, and neither user nor password control characters"
            )
        token = b64encode(f"{user}:{password}".encode()).decode()
        super().__init__({"Authorization": f"Basic {token}"}, origin)
