"""Offsite: drops requests to other hosts."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection
from typing import Any, NamedTuple

from ... import url as urls
from ...data import Request, Response
from ...errors import InvalidURL
from .per_spider import PerSpider

log = logging.getLogger(__name__)

_NOT_A_HOST = re.compile(r"[/\\?#@:*\s]")


class _Site(NamedTuple):
    domains: frozenset[str]
    logged_hosts: set[str]


class Offsite(PerSpider[_Site]):
    """
    Drops requests to hosts that are neither an allowed domain nor a subdomain of one.

    By default the domains are the spider's ``allowed_domains``; if there are none, all hosts are
    allowed. Each host is logged once. The scope of the crawl applies as well, and to first
    requests and redirects too: this middleware narrows it, for one spider or by another policy.
    """

    def __init__(self, allowed_domains: Collection[str] | None = None) -> None:
        super().__init__()
        self._domains = allowed_domains

    def follows(self, host: str, spider: Any) -> bool:
        """Return whether requests to *host* may pass; override it for another policy."""
        domains = self.of(spider).domains
        if not domains:
            return True
        while host and host not in domains:
            host = host.partition(".")[2]
        return bool(host)

    def make(self, spider: Any) -> _Site:
        domains = self.configured(self._domains, "allowed_domains", spider)
        if isinstance(domains, str):
            raise ValueError(f"allowed_domains must be a list, not just {domains!r}")
        return _Site(frozenset(map(_domain, domains)), set())

    def process_request(
        self, request: Request, response: Response | None, spider: Any
    ) -> Request | None:
        host = _host(request.url)
        if self.follows(host, spider):
            return request
        logged_hosts = self.of(spider).logged_hosts
        if host not in logged_hosts:
            logged_hosts.add(host)
            log.info("%r is offsite: %s", host, request)
        return None


def _host(url: str) -> str:
    try:
        return urls.host(url)
    except InvalidURL:
        return ""


def _domain(text: str) -> str:
    host = "" if _NOT_A_HOST.search(text) else _host(f"http://{text.lstrip('.')}/")
    if not host:
        raise ValueError(f"allowed domain {text!r} is not a host name, such as 'example.org'")
    return host
