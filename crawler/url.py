"""
URLs as browsers read them (the WHATWG URL standard), and the canonical form that is their key.

    found in a page ──resolve──▶ absolute ──canonicalize──▶ key for dedupe, scope and queue

The only exception for any text is InvalidURL. Only http and https can be crawled, but
resolve() returns URLs of other schemes too, so that they can be refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import ada_url

from .errors import InvalidURL

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

_DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

#: The length limit of a name in the DNS.
_LONGEST_NAME = 253

#: Query parameters that record where a visitor came from and never select a page.
_TRACKING = re.compile(
    r"(?:utm_\w+|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|twclid|ttclid|li_fat_id"
    r"|igshid|srsltid|mc_cid|mc_eid|mkt_tok|_ga|_gl|_hsenc|_hsmi)(?:=|\Z)",
    re.ASCII,
)

#: A URL that is canonical already, except for a fragment: most links of most pages. All
#: doubtful cases are left to the parser. All quantifiers are possessive: it never backtracks.
_PLAIN = re.compile(
    r"""
    (?P<key>
      (?P<origin> https?://
        (?P<host>
          (?: [a-z0-9_-]++ \. )*+ [a-z] [a-z0-9_-]*+
        | (?: BYTE \. ){3} BYTE
        )
        (?: : (?! (?:80|443)/ ) (?: [1-5][0-9]{4} | [1-9][0-9]{0,3} ) )?+
      )
      (?: / (?!\.) (?: [A-Za-z0-9\-._~!$&'()*+,;=:@|\[\]]++ | ESCAPE )*+ )++
      (?: \? (?: [A-Za-z0-9\-._~!$&()*+,;=:@|\[\]/?]++ | ESCAPE )++ )?+
    )
    (?: \# [!-~]*+ )?+ \Z
    """.replace("BYTE", "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])").replace(
        "ESCAPE",
        "%(?!2[DE]|3[0-9]|4[1-9A-F]|5[0-9AF]|6[1-9A-F]|7[0-9AE])[0-9A-F]{2}",
    ),
    re.VERBOSE,
)
#: URLs of this length or more are not cached.
_LONG = 256
_FINAL_DOT = re.compile(r"\A((?:https?://)?[^/]*[^/.@])\.(?=(?::[0-9]+)?(?:/|\Z))")
_ESCAPE = re.compile(r"%(?:[0-9A-Fa-f]{2})?")

#: The canonical form of every escape, and of a stray "%".
ESCAPES = {"%": "%25"} | {
    f"%{high}{low}": chr(code) if chr(code) in _UNRESERVED else f"%{code:02X}"
    for high in "0123456789ABCDEFabcdef"
    for low in "0123456789ABCDEFabcdef"
    for code in [int(high + low, 16)]
}


@dataclass(frozen=True, slots=True)
class Rules:
    """
    What canonicalize() does beyond the changes that are safe on every server.

    *sort_query* sorts the parameters by name (those of one name keep their order);
    *drop_tracking* removes the parameters of advertising and analytics, such as utm_source.
    """

    sort_query: bool = False
    drop_tracking: bool = False


DEFAULT = Rules()


def resolve(base: str, href: str) -> str:
    """Return the absolute URL, of any scheme, of *href* as written in a page at *base*."""
    if (plain := _plain(href)) and plain.end("key") == len(href):
        return href  # absolute and canonical: the base does not matter
    try:
        return ada_url.join_url(base, href)
    except ValueError:
        if not ada_url.check_url(base):
            raise InvalidURL(base, "the base is not a URL") from None
        raise InvalidURL(href) from None


def resolve_or_keep(base: str, href: str) -> str:
    """Return what resolve() does; *href* itself if it is not a URL: a frontier refuses it later."""
    try:
        return resolve(base, href)
    except InvalidURL:
        return str.__str__(href)


def without_fragment(url: str) -> str:
    """Return *url* as it is asked for: a fragment names a part of the page, and is never sent."""
    return url.partition("#")[0]


def canonicalize(url: str, rules: Rules = DEFAULT) -> str:
    """
    Return the canonical form of *url*: one form for all URLs of the same page.

    The fragment, an empty query, a default port and the final dot of a host are removed;
    escapes of unreserved characters are decoded, other escapes become upper case, and a
    stray "%" becomes "%25". Credentials stay, because they may select another page. A URL
    that is not http or https only loses its fragment.
    """
    plain = _plain(url)
    key = plain["key"] if plain else _normalize(url)
    return key if rules is DEFAULT else _apply(rules, key)


def scheme(url: str) -> str:
    """Return the scheme in lower case, without the colon."""
    return _attribute(url, "protocol")[:-1]


def host(url: str) -> str:
    """
    Return the host as in the DNS: lower case, IDNA, no port, no final dot, no brackets.

    It is "" if the scheme has no host (``mailto:``).
    """
    if plain := _plain(url):
        return plain["host"]
    return _FINAL_DOT.sub(r"\1", _attribute(url, "hostname").strip("[]"))


def port(url: str) -> int | None:
    """Return the port to connect to: the explicit one or the default of the scheme."""
    given = _attribute(url, "port")
    return int(given) if given else _DEFAULT_PORTS.get(scheme(url))


def origin(url: str) -> str:
    """Return scheme, host and a port that is not the default; "null" if the URL has no origin."""
    if plain := _plain(url):
        return plain["origin"]
    return _FINAL_DOT.sub(r"\1", _attribute(url, "origin"))


def target(url: str) -> str:
    """Return path and query of an http or https *url* as they are sent to a server."""
    if plain := _plain(url):
        return plain["key"][plain.end("origin") :]
    address = _attribute(url, "href").partition("#")[0].partition("://")[2]
    return "/" + address.partition("/")[2]


def registered_domain(host: str) -> str:
    """
    Return the registered domain of *host*, which is a result of host().

    An IP address, a single label, a bare public suffix and a name too long for the DNS have
    no registered domain; they are returned unchanged.
    """
    return host if len(host) > _LONGEST_NAME else _registered_domain(host)


def is_public_suffix(host: str) -> bool:
    """Return whether anyone may register names below *host*, such as "co.uk" or "github.io"."""
    return bool(_public_suffixes().is_public(host, accept_unknown=False))


def is_address(host: str) -> bool:
    """Return whether *host*, a result of host(), is an IPv4 or IPv6 address."""
    return ":" in host or host[host.rfind(".") + 1 :].isdecimal()


def is_local_name(host: str) -> bool:
    """Return whether *host*, a result of host(), is a name that always means this machine."""
    return host == "localhost" or host.endswith(".localhost")


def hosts_by_address(urls: Iterable[str]) -> frozenset[str]:
    """Return the hosts of those *urls* that name an address: 10.0.0.1, [::1] or localhost."""
    hosts = set()
    for url in urls:
        with suppress(InvalidURL):
            hosts.add(host(url))
    return frozenset(name for name in hosts if is_address(name) or is_local_name(name))


def _plain(url: str) -> re.Match[str] | None:
    """Match *url* once for the several calls that follow its discovery or precede its fetch."""
    return _match_recent(url) if len(url) < _LONG else _PLAIN.match(url)


_match_recent = lru_cache(maxsize=256)(_PLAIN.match)


@lru_cache(maxsize=1 << 14)
def _registered_domain(host: str) -> str:
    if "." not in host or is_address(host):
        return host
    return _public_suffixes().privatesuffix(host) or host


@cache
def _public_suffixes() -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList  # noqa: PLC0415 - loading the list takes time

    return PublicSuffixList()


def _attribute(url: str, name: str) -> str:
    try:
        value: str = ada_url.parse_url(url, (name,))[name]  # type: ignore[literal-required]
    except ValueError:
        raise InvalidURL(url) from None
    return value


def _normalize(url: str) -> str:
    href = _attribute(url, "href").partition("#")[0]
    if not href.startswith(("http://", "https://")):
        return href
    href = _FINAL_DOT.sub(r"\1", _ESCAPE.sub(lambda escape: ESCAPES[escape[0]], href))
    path, _, query = href.partition("?")
    return href if query else path


def _apply(rules: Rules, key: str) -> str:
    path, _, query = key.partition("?")
    parameters = query.split("&")
    if rules.drop_tracking:
        parameters = [p for p in parameters if not _TRACKING.match(p)]
    if rules.sort_query:
        parameters.sort(key=lambda parameter: parameter.partition("=")[0])
    query = "&".join(parameters)
    return f"{path}?{query}" if query else path
