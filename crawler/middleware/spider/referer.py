"""Referer: the header field that names the page of a link (W3C Referrer Policy)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import url as urls
from ...data import Request, Response
from ...errors import InvalidURL
from ..download.headers import adding
from .contract import SpiderMiddleware

#: Of a longer URL only the origin is sent.
_LONGEST = 4096


class _Step:
    """What a policy needs to know about a page and the target of its link."""

    def __init__(self, page: str, target: str) -> None:
        self.origin = f"{urls.origin(page)}/"
        self.whole = f"{urls.origin(page)}{urls.target(page)}"
        if len(self.whole) > _LONGEST:
            self.whole = self.origin
        self.stays = urls.origin(page) == urls.origin(target)
        self.is_downgrade = _is_safe(page) and not _is_safe(target)


#: The Referer that each policy allows; "" means none.
_POLICIES: dict[str, Callable[[_Step], str]] = {
    "no-referrer": lambda _: "",
    "no-referrer-when-downgrade": lambda step: "" if step.is_downgrade else step.whole,
    "same-origin": lambda step: step.whole if step.stays else "",
    "origin": lambda step: step.origin,
    "strict-origin": lambda step: "" if step.is_downgrade else step.origin,
    "origin-when-cross-origin": lambda step: step.whole if step.stays else step.origin,
    "strict-origin-when-cross-origin": lambda step: (
        step.whole if step.stays else "" if step.is_downgrade else step.origin
    ),
    "unsafe-url": lambda step: step.whole,
}


class Referer(SpiderMiddleware):
    """
    Sets the Referer of the requests found in a page, as *policy* allows.

    If the page has a ``Referrer-Policy`` of the standard, that policy applies instead; its name
    is looked up in a fixed list. Credentials and fragments are never sent. A request that already
    has a Referer keeps it.
    """

    def __init__(self, policy: str = "strict-origin-when-cross-origin") -> None:
        if policy not in _POLICIES:
            raise ValueError(f"policy must be one of {', '.join(_POLICIES)}, not {policy!r}")
        self._policy = policy

    def process_request(self, request: Request, response: Response | None, spider: Any) -> Request:
        if response is None or "referer" in request.headers:
            return request
        value = referrer(_policy_of(response) or self._policy, response.url, request.url)
        return adding(request, {"Referer": value}) if value else request


def referrer(policy: str, page: str, target: str) -> str:
    """Return the Referer that *policy* allows from *page* to *target*; "" means none."""
    try:
        if urls.scheme(page) not in ("http", "https"):
            return ""
        return _POLICIES[policy](_Step(page, target))
    except InvalidURL:
        return ""


def _policy_of(response: Response) -> str | None:
    """Return the last known policy that the page names, as browsers do."""
    named = response.headers.get("referrer-policy", "").lower().split(",")
    known = [name.strip() for name in named if name.strip() in _POLICIES]
    return known[-1] if known else None


def _is_safe(url: str) -> bool:
    """Return whether *url* is encrypted or local: the standard calls that trustworthy."""
    host = urls.host(url)
    is_here = host == "::1" or urls.is_local_name(host)
    is_loopback = host.startswith("127.") and urls.is_address(host)
    return urls.scheme(url) == "https" or is_here or is_loopback
