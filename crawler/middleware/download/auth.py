"""HTTP authentication, for one origin."""

from __future__ import annotations

from ...credentials import basic_login
from .headers import DefaultHeaders


class HttpAuth(DefaultHeaders):
    """
    Sends *user* and *password* to *origin* only: Basic (RFC 7617), or with the setting auth a digest.

    An origin is scheme, host and port: if a redirect changes one of them, it is fetched without
    the password. A request that already has an Authorization field keeps it.
    """

    def __init__(self, user: str, password: str, origin: str) -> None:
        super().__init__({"Authorization": basic_login(user, password)}, origin)
