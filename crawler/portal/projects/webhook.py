"""Who has sent a delivery of a webhook: signatures, checked over the raw bytes before any is parsed."""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import NamedTuple

#: Seconds by which the time of a signed delivery may differ from ours.
_CLOCKS = 300.0


class Delivery(NamedTuple):
    """A delivery that is right if *refusal* is empty; *id* tells one that is sent again."""

    provider: str
    id: str
    refusal: str = ""


def check_delivery(headers: Mapping[str, str], body: bytes, secret: str, now: float) -> Delivery:
    """Check a delivery of GitHub, Gitea, Forgejo or GitLab; *headers* are found in any case."""
    if signature := headers.get("X-Hub-Signature-256"):
        found = Delivery("github", headers.get("X-GitHub-Delivery", ""))
        return _checked(found, _same(signature, f"sha256={_hex(secret, body)}"))
    for name in ("Gitea", "Forgejo"):
        if signature := headers.get(f"X-{name}-Signature"):
            found = Delivery(name.lower(), headers.get(f"X-{name}-Delivery", ""))
            return _checked(found, _same(signature, _hex(secret, body)))
    if "webhook-signature" in headers:
        return _standard(headers, body, secret, now)
    if token := headers.get("X-Gitlab-Token"):
        number = headers.get("X-Gitlab-Event-UUID", "")
        return _checked(Delivery("gitlab", number), _same(token, secret))
    return Delivery("unknown", "", "no signature")


def _standard(headers: Mapping[str, str], body: bytes, secret: str, now: float) -> Delivery:
    """Check a delivery of GitLab that is signed as Standard Webhooks are."""
    found = Delivery("gitlab", headers.get("webhook-id", ""))
    sent = headers.get("webhook-timestamp", "")
    if not sent.isascii() or not sent.isdecimal() or abs(int(sent[:12]) - now) > _CLOCKS:
        return found._replace(refusal="the delivery is too old, or the clocks differ")
    signed = f"{found.id}.{sent}.".encode() + body
    right = "v1," + b64encode(hmac.digest(_standard_key(secret), signed, "sha256")).decode()
    given = headers.get("webhook-signature", "").split()[:5]
    return _checked(found, any(_same(one, right) for one in given))


def _standard_key(secret: str) -> bytes:
    """Return the key: a secret that begins with whsec_ is base64, any other is the key itself."""
    if not secret.startswith("whsec_"):
        return secret.encode()
    try:
        return b64decode(secret.removeprefix("whsec_"))
    except ValueError:
        return secret.encode()


def _checked(found: Delivery, is_right: bool) -> Delivery:
    if not is_right:
        return found._replace(refusal="the signature is wrong")
    if not found.id or len(found.id) > 200:
        return found._replace(refusal="the delivery has no id")
    return found


def _hex(secret: str, body: bytes) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), right.encode())
