"""Scope: which URLs belong to a crawl."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from ... import url as urls
from ...errors import InvalidURL
from ...http.redirect import MAX_REDIRECTS

#: A URL up to the end of its host and port; longer ones are not worth caching.
_SITE = re.compile(r"https?://[^\x00-\x20/?#\\]{1,300}/")
_HOST_AND_PORT = re.compile(r"(?P<host>\[[^]\s]*]|[^:\s]*)(?::(?P<port>.*))?", re.DOTALL)
_PART_OF_A_URL = re.compile(r"[/\\?#@]")
#: The entry of *accepted_domains* that accepts every host.
ANY_DOMAIN = "*"
_DIGITS = re.compile(r"[0-9]{1,5}")


@dataclass(frozen=True)
class Scope:
    """
    Decides whether a URL belongs to the crawl, by scheme, host, depth, length and patterns.

    An entry of *accepted_domains* that is a registered domain ("example.org") accepts all its
    hosts; any other host ("www.example.org", "localhost", "127.0.0.1", "[::1]") accepts only
    itself; a port ("example.org:8080") limits either to that port; "*" accepts every host. *own_domains* are the
    domains of the first requests: see including(). A URL at *max_depth* is fetched; None is
    no limit.

    *include* and *exclude* are regular expressions that are searched for anywhere in a
    canonical URL. If there are *include* patterns, one of them must match; no *exclude* pattern
    may match. The first requests need not match *include*: they lead to the wanted pages.
    *max_redirects* of one request are followed; 0 follows none.
    """

    accepted_domains: Collection[str] = ()
    max_depth: int | None = 0
    max_url_length: int = 2083
    own_domains: frozenset[str] = frozenset()
    include: Collection[str] = ()
    exclude: Collection[str] = ()
    max_redirects: int = MAX_REDIRECTS

    @cached_property
    def text(self) -> str:
        """All rules as one text: two scopes with the same text accept the same URLs."""
        domains = sorted({*self.accepted_domains, *self.own_domains})
        return repr((domains, self.max_depth, self.max_url_length, self.include, self.exclude))

    def __post_init__(self) -> None:
        domains = _collection("accepted_domains", self.accepted_domains, "domains")
        object.__setattr__(self, "accepted_domains", frozenset(map(_domain, domains)))
        for name in ("include", "exclude"):
            patterns = _collection(name, getattr(self, name), "patterns")
            object.__setattr__(self, name, tuple(_pattern(name, entry) for entry in patterns))
        if self.max_depth is not None and not _is_count(self.max_depth, at_least=0):
            raise ValueError(f"max_depth must be 0 or more, or None, not {self.max_depth!r}")
        if not _is_count(self.max_redirects, at_least=0):
            raise ValueError(f"max_redirects must be 0 or more, not {self.max_redirects!r}")
        if not _is_count(self.max_url_length, at_least=1):
            raise ValueError(f"max_url_length must be 1 or more, not {self.max_url_length!r}")

    def including(self, first: Iterable[str]) -> Scope:
        """
        Return a scope that also accepts the domains of the *first* URLs, on any port.

        A URL that cannot be crawled adds nothing: refusal() will return the reason.
        """
        crawlable = [url for url in first if self._host_refusal(url) in (None, "domain")]
        own = {urls.registered_domain(urls.host(url)) for url in crawlable}
        return dataclasses.replace(self, own_domains=self.own_domains | own)

    @cached_property
    def for_files(self) -> Scope:
        """The scope of files that items name: those of any domain, at any depth, unless excluded."""
        anywhere = frozenset({ANY_DOMAIN})
        return dataclasses.replace(self, accepted_domains=anywhere, include=(), max_depth=None)

    def refusal(self, url: str, depth: int) -> str | None:
        """
        Return why *url*, found at *depth*, is out of scope; None if it is in scope.

        The reason is the first that holds of: invalid, scheme, domain, depth, length, exclude,
        include.
        """
        site = _SITE.match(url)
        reason = self._site_refusal(site[0]) if site else self._host_refusal(url)
        if reason is not None:
            return reason
        if self.max_depth is not None and depth > self.max_depth:
            return "depth"
        if len(url) > self.max_url_length:
            return "length"
        return self._pattern_refusal(url, depth) if self.include or self.exclude else None

    @cached_property
    def _site_refusal(self) -> Callable[[str], str | None]:
        return lru_cache(maxsize=1 << 14)(self._host_refusal)

    def _host_refusal(self, url: str) -> str | None:
        try:
            if urls.scheme(url) not in ("http", "https"):
                return "scheme"
            return None if self._accepts(urls.host(url), urls.port(url)) else "domain"
        except InvalidURL:
            return "invalid"

    def _pattern_refusal(self, url: str, depth: int) -> str | None:
        include, exclude = self._compiled
        if any(pattern.search(url) for pattern in exclude):
            return "exclude"
        if not include or depth == 0 or any(pattern.search(url) for pattern in include):
            return None
        return "include"

    @cached_property
    def _compiled(self) -> tuple[list[re.Pattern[str]], list[re.Pattern[str]]]:
        return list(map(re.compile, self.include)), list(map(re.compile, self.exclude))

    def _may_accept(self, host: str) -> bool:
        """
        Return whether *host* is, or ends with, an accepted domain.

        For all other hosts there is no need to consult the public suffix list.
        """
        labels = host.rsplit(".", self._most_labels)
        ends = (".".join(labels[place:]) for place in range(len(labels)))
        return host in self._names or not self._names.isdisjoint(ends)

    @cached_property
    def _most_labels(self) -> int:
        return max((name.count(".") + 1 for name in self._names), default=1)

    @cached_property
    def _names(self) -> frozenset[str]:
        """All accepted domains and hosts, without ports."""
        return self.own_domains | {_without_port(domain) for domain in self.accepted_domains}

    def _accepts(self, host: str, port: int | None) -> bool:
        if ANY_DOMAIN in self.accepted_domains:
            return True
        if not self._may_accept(host):
            return False
        domain = urls.registered_domain(host)
        names = {host, domain, _with_port(host, port), _with_port(domain, port)}
        return domain in self.own_domains or not names.isdisjoint(self.accepted_domains)


def _collection(name: str, given: Any, kind: str) -> Iterable[Any]:
    if isinstance(given, Iterable) and not isinstance(given, str | bytes):
        return given
    raise ValueError(f"{name} must be a list of {kind}, not just {given!r}")


def _pattern(name: str, entry: Any) -> str:
    if not isinstance(entry, str):
        raise ValueError(f"{name} pattern {entry!r} is not text")
    try:
        re.compile(entry)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"{name} pattern {entry!r} is not a regular expression: {error}") from None
    return entry


def _is_count(value: Any, at_least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= at_least


def _domain(entry: Any) -> str:
    """Return *entry* in the form that _accepts() compares; ValueError if it could never match."""
    if not isinstance(entry, str):
        raise _invalid_entry(entry, "is not text")
    text = entry.strip()
    if not text:
        raise _invalid_entry(entry, "is blank: leave it out")
    if _PART_OF_A_URL.search(text):
        raise _invalid_entry(
            entry, f"is a URL: give the host only, {_host(text) or 'example.org'!r}"
        )
    if text == ANY_DOMAIN:
        return text
    if "*" in text or text.startswith("."):
        raise _invalid_entry(entry, f"has a wildcard: {_instead_of_wildcard(text)}")
    if text.count(":") > 1 and not text.startswith("["):
        text = f"[{text}]"
    host, port = _split(entry, text)
    if not urls.is_address(host) and urls.is_public_suffix(host):
        raise _invalid_entry(entry, "is a public suffix: name the domains below it")
    return host if port is None else _with_port(host, port)


def _split(entry: str, text: str) -> tuple[str, int | None]:
    parts = _HOST_AND_PORT.fullmatch(text)
    host = _host(parts["host"]) if parts else None
    if not parts or not host or "" in host.split("."):
        raise _invalid_entry(entry, "is not a host name or address")
    port = parts["port"]
    if port is not None and not (_DIGITS.fullmatch(port) and 1 <= int(port) <= 65535):
        raise _invalid_entry(entry, f"has a bad port: {port!r} is not a number from 1 to 65535")
    return host, None if port is None else int(port)


def _host(text: str) -> str | None:
    try:
        return urls.host(text if "://" in text else f"http://{text}/")
    except InvalidURL:
        return None


def _instead_of_wildcard(text: str) -> str:
    domain = urls.registered_domain(_host(text.lstrip("*.")) or "")
    if not domain or "*" in domain or urls.is_public_suffix(domain):
        return "name each domain"
    return f"{domain!r} accepts all its sub-domains"


def _with_port(host: str, port: int | None) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _without_port(domain: str) -> str:
    if domain.startswith("["):
        return domain[1:].partition("]")[0]
    return domain if domain.count(":") > 1 else domain.partition(":")[0]


def _invalid_entry(entry: Any, why: str) -> ValueError:
    return ValueError(f"accepted domain {entry!r} {why}")
