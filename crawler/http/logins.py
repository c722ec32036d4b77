"""Logins: the users and passwords that were given in the URLs of first requests."""

from __future__ import annotations

from ..data import Request
from ..request_fields import URL_LOGIN
from ..url import origin

_FIELD = "Authorization"


class Logins:
    """
    Sends a login to its whole origin, and keeps it out of the requests that others see.

    A page that the user names with user and password links to others of its site without them.
    Only what the user has named is learned: a link must not choose the login of a site.
    """

    def __init__(self) -> None:
        self._by_origin: dict[str, str] = {}

    def learn(self, request: Request) -> Request:
        """Return *request*, which the user has named, without the login that its URL had."""
        if URL_LOGIN not in request.meta:
            return request
        self._by_origin[origin(request.url)] = request.headers[_FIELD]
        headers = {name: value for name, value in request.headers.items() if name != _FIELD}
        meta = {key: value for key, value in request.meta.items() if key != URL_LOGIN}
        return request.replace(headers=headers, meta=meta)

    def sign(self, request: Request) -> Request:
        """Return *request* as it is to be sent: with the login of its origin, if there is one."""
        if not self._by_origin or _FIELD in request.headers:
            return request
        login = self._by_origin.get(origin(request.url))
        if login is None:
            return request
        return request.replace(headers={**request.headers, _FIELD: login})
