"""User and password: as a header field, taken out of a URL, and hidden in text that has them."""

from __future__ import annotations

import re
from base64 import b64encode
from urllib.parse import unquote_to_bytes

import ada_url

#: The beginning of a URL without credentials, as most URLs with an "@" have it.
_NONE = re.compile(r"https?://[^/?#\\@]*[/?#]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
#: Words in the names of header fields, cookies, settings and arguments whose values are secret.
_NAMES = (
    r"(?:secret|passw(?:or)?d|passphrase|token|(?:api|access|private)[_-]?key"
    r"|credential|session[_-]?id)"
)
_SECRET_NAME = re.compile(rf"(?i){_NAMES}|authorization|cookie|(?:^|[_-])key$")
#: A header field whose whole value is secret, and NAME=VALUE or "NAME": "VALUE" with a secret name.
_SECRET_HEADER = re.compile(r"(?i)((?:cookie|authorization)[\"']?\s{0,4}[:=])[^\r\n]+")
_SECRET_PAIR = re.compile(
    rf"(?i)({_NAMES}[\w-]{{0,40}}[\"']?\s{{0,4}}[:=]\s{{0,4}})"
    r"(?:\"[^\"]*\"|'[^']*'|[^\s\"'&,;)}\]]+)"
)
_PASSWORD = re.compile(r"(:[/\\]{2}[^/\\?#\s:@]*):[^/\\?#\s]*@")


def split_credentials(url: str) -> tuple[str, str | None]:
    """
    Return *url* without user and password, and the Authorization field that sends them.

    A URL that has none is returned unchanged, with None; so is text that is not a URL.
    """
    if _NONE.match(url):
        return url, None
    try:
        parsed = ada_url.URL(url)
    except ValueError:
        return url, None
    user, password = unquote_to_bytes(parsed.username), unquote_to_bytes(parsed.password)
    if not (user or password):
        return url, None
    parsed.username = parsed.password = ""
    return parsed.href, _basic(user, password)


def basic_login(user: str, password: str) -> str:
    """Return the Authorization field of *user* (Basic, RFC 7617)."""
    if ":" in user or _CONTROL.search(user + password):
        raise ValueError(
            "user must have no colon, and neither user nor password control characters"
        )
    return _basic(user.encode(), password.encode())


def _basic(user: bytes, password: bytes) -> str:
    return f"Basic {b64encode(user + b':' + password).decode()}"


def without_credentials(url: str) -> str:
    return split_credentials(url)[0] if "@" in url else url


def hide_passwords(text: str) -> str:
    """Return *text* in which user:password@ of a URL is user:…@, for text that is not a URL itself."""
    return _PASSWORD.sub(r"\1:…@", text) if "@" in text else text


def is_secret_name(name: str) -> bool:
    """Return whether a header field, cookie, setting or argument of this name has a secret value."""
    return _SECRET_NAME.search(name) is not None


def hide_secrets(text: str) -> str:
    """Return *text* without passwords of URLs, and without values whose name says that they are secret."""
    if ":" not in text and "=" not in text:
        return text
    text = _SECRET_HEADER.sub(r"\1 …", text)
    return hide_passwords(_SECRET_PAIR.sub(r"\1…", text))
