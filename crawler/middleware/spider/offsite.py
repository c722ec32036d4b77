"""Offsite: which hosts the requests found may lead to."""

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
    told: set[str]


class Offsite(PerSpider[_Site]):
    """
    Drops requests to hosts that are neither one of the allowed domains nor below one.

    The domains are the spider's ``allowed_domains`` unless given; without any, all hosts are
    allowed. Each host is told of once. The scope of the crawl holds besides, for first
    requests and redirects as well: this narrows it, for one spider or by another policy.
    """

    def __init__(self, allowed_domains: Collection[str] | None = None) -> None:
        super().__init__()
        self._domains = allowed_domains

    def follows(self, host: str, spider: Any) -> bool:
        """Say whether requests to *host* may pass; override it for another policy."""
        domains = self.of(spider).domains
        if not domains:
            return True
        while host and host not in domains:
            host = host.partition(".")[2]
        return bool(host)

    def make(self, spider: Any) -> _Site:
        domains = self.told(self._domains, "allowed_domains", spider)
        if isinstance(domains, str):
            raise ValueError(f"allowed_domains must be a list, not just {domains!r}")
        return _Site(frozenset(map(_domain, domains)), set())

    def process_request(
        self, request: Request, response: Response | None, spider: Any
    ) -> Request | None:
        host = _host(request.url)
        if self.follows(host, spider):
            return request
        told = self.of(spider).told
        if host not in told:
            told.add(host)
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
