"""How much of the URL of a page is sent to the pages that it links to (W3C Referrer Policy)."""

from __future__ import annotations

from collections.abc import Callable

from .. import url as urls
from ..errors import InvalidURL
from ..headers import Headers

#: Of a longer URL only the origin is sent.
_LONGEST = 4096


class _Step:
    """What a policy needs to know about a page and the target of its link."""

    def __init__(self, page: str, target: str) -> None:
        origin = urls.origin(page)
        self.origin = f"{origin}/"
        self.whole = f"{origin}{urls.target(page)}"
        if len(self.whole) > _LONGEST:
            self.whole = self.origin
        self.stays = origin == urls.origin(target)
        self._target = target

    @property
    def is_downgrade(self) -> bool:
        return _is_safe(self.origin) and not _is_safe(self._target)


#: The policy of browsers.
DEFAULT_POLICY = "strict-origin-when-cross-origin"
#: The Referer that each policy allows; "" means none.
POLICIES: dict[str, Callable[[_Step], str]] = {
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


def referrer(policy: str, page: str, target: str) -> str:
    """Return the Referer that *policy* allows from *page* to *target*; "" means none."""
    try:
        step = _Step(page, target)
        is_on_the_web = step.origin.startswith(("http://", "https://"))
        return POLICIES[policy](step) if is_on_the_web else ""
    except InvalidURL:
        return ""


def named_policy(headers: Headers) -> str | None:
    """Return the last known policy of ``Referrer-Policy``, as browsers do."""
    named = headers.get("referrer-policy", "").lower().split(",")
    known = [name.strip() for name in named if name.strip() in POLICIES]
    return known[-1] if known else None


def _is_safe(url: str) -> bool:
    """Return whether *url* is encrypted or local: the standard calls that trustworthy."""
    host = urls.host(url)
    is_here = host == "::1" or urls.is_local_name(host)
    is_loopback = host.startswith("127.") and urls.is_address(host)
    return urls.scheme(url) == "https" or is_here or is_loopback
