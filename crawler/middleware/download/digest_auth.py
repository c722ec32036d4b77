"""Logins that are sent as digests, to servers that ask for one."""

from __future__ import annotations

from ... import url as urls
from ...data import Request, Response
from ...headers import Headers
from ...http.digest import DigestLogin, strongest_challenge, user_and_password
from .contract import DownloadMiddleware

_FIELD = "authorization"
_BASIC = "Basic "
#: The key in meta for the Basic login that is not sent, and for whether its challenge was answered.
_LOGIN = "crawler.login"
_ANSWERED = "crawler.login_answered"
#: The number of logins whose challenges are known.
_MOST = 1000


class DigestAuth(DownloadMiddleware):
    """
    Sends the Basic login of a request, wherever it comes from, as a digest (RFC 7616).

    The password itself is never sent. The first request to an origin goes without the login; if
    the server asks for a digest, the request is sent again at once. Later requests have one
    from the start. The setting ``auth = digest`` adds it, inside of HttpAuth and of the logins of
    URLs, which send a login to its own origin only.
    """

    def __init__(self) -> None:
        #: By origin and Basic login.
        self._logins: dict[tuple[str, str], DigestLogin] = {}

    def before_download(self, request: Request) -> Request:
        login = request.headers.get(_FIELD, "")
        if not login.startswith(_BASIC):
            return request
        known = self._logins.get((urls.origin(request.url), login))
        return _sent(request.replace(meta={**request.meta, _LOGIN: login}), known)

    def after_download(self, response: Response) -> Response | Request:
        request = response.request
        login = request.meta.get(_LOGIN)
        if response.status != 401 or login is None or _ANSWERED in request.meta:
            return response
        challenge = strongest_challenge(response.headers.all("www-authenticate"))
        if challenge is None:
            return response
        if len(self._logins) >= _MOST:
            del self._logins[next(iter(self._logins))]
        known = DigestLogin(challenge, *user_and_password(login))
        self._logins[urls.origin(request.url), login] = known
        return _sent(request.replace(meta={**request.meta, _ANSWERED: True}), known)


def _sent(request: Request, login: DigestLogin | None) -> Request:
    """Return *request* with the digest of *login*, or with no login if it is not known yet."""
    own = request.headers
    pairs = own.fields if isinstance(own, Headers) else tuple(own.items())
    fields = [(name, value) for name, value in pairs if name.lower() != _FIELD]
    if login is not None:
        digest = login.field(request.method, urls.target(request.url), request.body)
        fields.append(("Authorization", digest))
    return request.replace(headers=Headers(fields))
