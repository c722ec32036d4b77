"""Header fields as text, and those that every host may see."""

from __future__ import annotations

from collections.abc import Iterable

from ..data import Request

#: What to do instead with a field that is not for every request to every host.
_INSTEAD = {
    "authorization": "put user:password@ into a start URL, or give the spider an HttpAuth or "
    "DefaultHeaders with an origin in download_middlewares",
    "cookie": "give cookies={…} to each request that needs them, or the spider a DefaultHeaders "
    "with an origin in download_middlewares",
    "proxy-authorization": "put user:password@ into the setting proxy",
    "host": "give it to single requests",
    "user-agent": "use the setting user_agent, which robots.txt is obeyed for as well",
}


def field_of(line: str) -> tuple[str, str]:
    """Return the name and the value of a *line* such as "Accept: text/html"."""
    name, colon, value = line.partition(":")
    if not colon or not name.strip():
        # The text is not shown: it may be a secret in the wrong place.
        raise ValueError("a header field is 'NAME: VALUE', such as 'Accept-Language: en'")
    return name.strip(), value.strip()


def general_fields(lines: Iterable[str]) -> dict[str, str]:
    """Return the fields in *lines*; raise ValueError if one is not for every host."""
    fields = dict(map(field_of, lines))
    for name in fields:
        if name.lower() in _INSTEAD:
            raise ValueError(f"{name} would go to every host: {_INSTEAD[name.lower()]}")
    Request("http://any.invalid/", headers=fields)
    return fields
