"""Digest access authentication (RFC 7616): a login that proves a password without sending it."""

from __future__ import annotations

import hashlib
import re
import secrets
from base64 import b64decode
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import quote

_CHARACTER = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]"
#: A parameter of a challenge, after the name of its scheme if it is the first. A search that
#: fails begins again after the word, and not in it: the time is linear.
_PARAMETER = re.compile(
    rf"(?<!{_CHARACTER})(?:({_CHARACTER}++)[ \t]++)?({_CHARACTER}++)[ \t]*+=[ \t]*+"
    r'(?:"((?:[^"\\]|\\.)*+)"|([^\s,"]++))'
)
_ESCAPED = re.compile(r"\\(.)")
_SPECIAL = re.compile(r'(["\\])')
#: The hash of each algorithm, the strongest first; "-sess" may follow its name.
_HASHES: dict[str, str] = {"SHA-512-256": "sha512_256", "SHA-256": "sha256", "MD5": "md5"}
_SESSION = "-SESS"


@dataclass(frozen=True)
class Challenge:
    """What a server wants to have hashed."""

    realm: str
    nonce: str
    algorithm: str = "MD5"
    qop: str = ""
    opaque: str | None = None
    hides_user: bool = False

    @property
    def strength(self) -> int:
        return -list(_HASHES).index(_without_session(self.algorithm))

    def hashed(self, text: bytes) -> str:
        name = _HASHES[_without_session(self.algorithm)]
        return hashlib.new(name, text, usedforsecurity=False).hexdigest()


def strongest_challenge(fields: Iterable[str]) -> Challenge | None:
    """Return the strongest Digest challenge in the *fields* WWW-Authenticate; None if none is known."""
    known = [found for parts in map(_challenges, fields) for found in map(_digest, parts) if found]
    return max(known, key=lambda challenge: challenge.strength, default=None)


def user_and_password(login: str) -> tuple[bytes, bytes]:
    """Return what the field *login* of the Basic scheme has; raise ValueError if it has no such form."""
    user, colon, password = b64decode(login.removeprefix("Basic "), validate=True).partition(b":")
    if not colon:
        raise ValueError("a Basic login has a user and a password")
    return user, password


class DigestLogin:
    """Answers a *challenge* with a user and a password; each answer has a number of its own."""

    def __init__(
        self,
        challenge: Challenge,
        user: bytes,
        password: bytes,
        *,
        new_cnonce: Callable[[], str] = secrets.token_hex,
    ) -> None:
        self._challenge = challenge
        self._user = user
        self._password = password
        self._new_cnonce = new_cnonce
        self._count = 0

    def field(self, method: str, target: str, body: bytes = b"") -> str:
        """Return the Authorization field of a request for *target*, the path with its query."""
        challenge, cnonce = self._challenge, self._new_cnonce()
        self._count += 1
        count = f"{self._count:08x}"
        parts = [challenge.nonce]
        if challenge.qop:
            parts += [count, cnonce, challenge.qop]
        text = [self._secret(cnonce), *parts, self._asked(method, target, body)]
        values = {
            **self._user_values(),
            "realm": _quoted(challenge.realm),
            "nonce": _quoted(challenge.nonce),
            "uri": _quoted(target),
            "response": _quoted(challenge.hashed(":".join(text).encode())),
            "algorithm": challenge.algorithm,
        }
        if challenge.opaque is not None:
            values["opaque"] = _quoted(challenge.opaque)
        if challenge.qop:
            values |= {"qop": challenge.qop, "nc": count}
        if challenge.qop or _is_of_a_session(challenge):
            values["cnonce"] = _quoted(cnonce)
        return "Digest " + ", ".join(f"{name}={value}" for name, value in values.items())

    def _secret(self, cnonce: str) -> str:
        challenge = self._challenge
        secret = challenge.hashed(b":".join([self._user, challenge.realm.encode(), self._password]))
        if _is_of_a_session(challenge):
            return challenge.hashed(f"{secret}:{challenge.nonce}:{cnonce}".encode())
        return secret

    def _asked(self, method: str, target: str, body: bytes) -> str:
        text = f"{method}:{target}"
        if self._challenge.qop == "auth-int":
            text += f":{self._challenge.hashed(body)}"
        return self._challenge.hashed(text.encode())

    def _user_values(self) -> dict[str, str]:
        if self._challenge.hides_user:
            hidden = self._user + b":" + self._challenge.realm.encode()
            return {"username": _quoted(self._challenge.hashed(hidden)), "userhash": "true"}
        if self._user.isascii():
            return {"username": _quoted(self._user.decode())}
        return {"username*": f"UTF-8''{quote(self._user, safe='')}"}


def _challenges(field: str) -> list[tuple[str, dict[str, str]]]:
    """Return the challenges in *field*: the scheme and the parameters of each."""
    found: list[tuple[str, dict[str, str]]] = []
    for scheme, name, quoted, plain in _PARAMETER.findall(field):
        if scheme:
            found.append((scheme.lower(), {}))
        if found:
            found[-1][1].setdefault(name.lower(), plain or _ESCAPED.sub(r"\1", quoted))
    return found


def _digest(given: tuple[str, dict[str, str]]) -> Challenge | None:
    scheme, parameters = given
    algorithm = parameters.get("algorithm", "MD5")
    offered = [name.strip().lower() for name in parameters.get("qop", "").split(",")]
    qop = next((name for name in ("auth", "auth-int", "") if name in offered), None)
    if scheme != "digest" or qop is None or not {"realm", "nonce"} <= parameters.keys():
        return None
    if _HASHES.get(_without_session(algorithm)) not in hashlib.algorithms_available:
        return None
    return Challenge(
        parameters["realm"],
        parameters["nonce"],
        algorithm,
        qop,
        parameters.get("opaque"),
        parameters.get("userhash", "").lower() == "true",
    )


def _without_session(algorithm: str) -> str:
    return algorithm.upper().removesuffix(_SESSION)


def _is_of_a_session(challenge: Challenge) -> bool:
    return challenge.algorithm.upper().endswith(_SESSION)


def _quoted(text: str) -> str:
    return '"' + _SPECIAL.sub(r"\\\1", text) + '"'
