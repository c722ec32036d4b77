"""SecretBox: secrets that must be read again, sealed in the store."""

from __future__ import annotations

import os
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

#: The variable with the key; without it the key is in a file beside the store.
VARIABLE = "CRAWLER_PORTAL_KEY"
_NONCE = 12


class SecretBox:
    """Seals with AES-256-GCM. What is sealed for one *place*, such as a column, opens for no other."""

    def __init__(self, path: Path, environ: Mapping[str, str] = os.environ) -> None:
        self._cipher = AESGCM(_key(path, environ.get(VARIABLE)))

    def seal(self, text: str, place: str) -> bytes:
        nonce = secrets.token_bytes(_NONCE)
        sealed: bytes = self._cipher.encrypt(nonce, text.encode(), place.encode())
        return nonce + sealed

    def open(self, sealed: bytes, place: str) -> str:
        """Return the text; raise ValueError if it was sealed with another key or for another place."""
        try:
            text: bytes = self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], place.encode())
        except InvalidTag:
            raise ValueError(f"the secret of {place} was sealed with another key") from None
        return text.decode()


def _key(path: Path, given: str | None) -> bytes:
    """Return the key of the variable, or that of the file *path*, which is made if it is missing."""
    if given is None:
        if not path.exists():
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(urlsafe_b64encode(secrets.token_bytes(32)))
        given = path.read_text()
    try:
        key = urlsafe_b64decode(given.strip())
    except ValueError:
        key = b""
    if len(key) != 32:
        raise ValueError(f"{VARIABLE}, or {path}, must be 32 random bytes in base64")
    return key
