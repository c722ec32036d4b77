"""DomainHosts: finds domains that have a host for every link."""

from __future__ import annotations

from ...url import registered_domain

#: The default of *most*. Services whose users have a host each are public suffixes, as a rule: each
#: of these hosts is a domain of its own.
MOST_HOSTS = 20_000


class DomainHosts:
    """
    Counts the hosts of each registered domain, up to *most*.

    A name server can answer for any name, and each host has a queue, a robots.txt and a pace of its
    own. The domain itself and its ``www`` are always let through: most domains have no other hosts,
    and need no memory here.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._numbers: dict[str, int] = {}
        #: The hashes of the hosts that were let through; Python seeds them anew in each process.
        self._hosts: set[int] = set()

    def add(self, host: str) -> bool:
        """Count *host* if it is new; return False if its domain has all the hosts it may have."""
        key = hash(host)
        if key in self._hosts:
            return True
        domain = registered_domain(host)
        if host in (domain, f"www.{domain}"):
            return True
        number = self._numbers.get(domain, 0)
        if number >= self._most:
            return False
        self._numbers[domain] = number + 1
        self._hosts.add(key)
        return True
