"""
AddressGuard: no page can send the crawler to an address that only its user may reach.

A link, a redirect or a name server can point to 127.0.0.1, to a printer, or to the address
where a cloud serves its credentials. So addresses are checked when a connection is made: by
then every spelling has been parsed and every name resolved.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import TypeAlias

from .. import url as urls
from ..data import Request

_Address: TypeAlias = "IPv4Address | IPv6Address"
_Network: TypeAlias = "IPv4Network | IPv6Network"

#: Networks without public servers.
_INNER_IPV4 = [
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by the customers of a provider
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # a cloud's services for its machines (Azure)
        "169.254.0.0/16",  # link-local, where clouds keep their metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocol assignments
        "192.0.2.0/24",  # for documentation
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",  # private
        "198.18.0.0/15",  # for benchmarks
        "198.51.100.0/24",  # for documentation
        "203.0.113.0/24",  # for documentation
        "224.0.0.0/3",  # multicast, reserved, broadcast
    )
]
#: The only public network of IPv6, and the parts of it that are not public.
_UNICAST = IPv6Network("2000::/3")
_INNER_UNICAST = [IPv6Network(text) for text in ("2001::/23", "2001:db8::/32", "3fff::/20")]

#: IPv6 networks that embed IPv4 (mapped, NAT64, 6to4), and the number of bits after the address.
_EMBEDDING = [
    (IPv6Network("::ffff:0:0/96"), 0),
    (IPv6Network("64:ff9b::/96"), 0),
    (IPv6Network("2002::/16"), 80),
]
_NAME = re.compile(r"[^\s/?#@:\\]+|\[[0-9A-Fa-f:.]+]")


class AddressGuard:
    """
    Decides whether a request may connect to an address: CurlFetch's *allow_address*.

    Private, loopback, link-local, shared, multicast and reserved addresses are refused,
    as IPv4, as IPv6, and as IPv4 embedded in IPv6, with two exceptions:

    - *allowed*: names of hosts, addresses, and networks such as "10.0.0.0/8".
    - The hosts of first requests, and those passed to trust(): the user may fetch what he
      names. The first address of such a name decides; if it is public, inner addresses stay
      refused for this name, so that a name server cannot switch to one later.

    *refused_ports* are ports of this machine's own services; they are always refused.

    With a proxy only the address of the proxy is checked, which the user has chosen; the
    proxy itself decides where it connects to.
    """

    def __init__(self, allowed: Collection[str] = (), refused_ports: Collection[int] = ()) -> None:
        if isinstance(allowed, str):
            raise ValueError(f"allowed must be a list, not just {allowed!r}")
        entries = [_entry(text) for text in allowed]
        self._allowed_hosts = {entry for entry in entries if isinstance(entry, str)}
        self._allowed_networks = [entry for entry in entries if not isinstance(entry, str)]
        self._refused_ports = frozenset(refused_ports)
        #: For each host the user named, whether its address is inner; None until it is known.
        self._own: dict[str, bool | None] = {}

    def trust(self, url: str) -> None:
        """Treat the host of *url* as named by the user."""
        self._own.setdefault(urls.host(url), None)

    def __call__(self, ip: str, port: int, request: Request) -> bool:
        try:
            address, inner = _read(ip)
            host = urls.host(request.url)
        except ValueError:
            return False
        if port in self._refused_ports and (address.is_loopback or address.is_unspecified):
            return False
        if request.proxy:
            return True
        if _is_first(request):
            self._own.setdefault(host, None)
        if host in self._own and self._own[host] is None:
            self._own[host] = inner
        return not inner or self._allows(host, address)

    def _allows(self, host: str, address: _Address) -> bool:
        if self._own.get(host) or host in self._allowed_hosts:
            return True
        return any(address in network for network in self._allowed_networks)

    def __repr__(self) -> str:
        own = {host for host, inner in self._own.items() if inner}
        allowed = {*self._allowed_hosts, *map(str, self._allowed_networks), *own}
        return f"<AddressGuard, allowed: {', '.join(sorted(allowed)) or 'none'}>"


def is_inner(ip: str) -> bool:
    """Return whether *ip* is an address without public servers."""
    return _read(ip)[1]


def _is_first(request: Request) -> bool:
    return request.depth == 0 and request.found_on is None and not request.redirects


@lru_cache(maxsize=1 << 12)
def _read(ip: str) -> tuple[_Address, bool]:
    """Return the address that *ip* stands for, and whether it is an inner one."""
    address = _unwrapped(ip_address(ip))
    if isinstance(address, IPv4Address):
        return address, any(address in network for network in _INNER_IPV4)
    public = address in _UNICAST and not any(address in network for network in _INNER_UNICAST)
    return address, not public


def _unwrapped(address: _Address) -> _Address:
    if isinstance(address, IPv6Address):
        for network, shift in _EMBEDDING:
            if address in network:
                return IPv4Address(int(address) >> shift & 0xFFFFFFFF)
    return address


def _entry(text: str) -> str | _Network:
    """Parse an entry of *allowed*: a network, which may be a single address, or a name."""
    try:
        if "/" in text:
            return ip_network(text, strict=False)
        bracketed = f"[{text}]" if text.count(":") > 1 and "[" not in text else text
        if not _NAME.fullmatch(bracketed):
            raise ValueError(text)
        host = urls.host(f"http://{bracketed}/")
        return ip_network(_unwrapped(ip_address(host))) if urls.is_address(host) else host
    except ValueError:
        raise ValueError(f"allowed: {text!r} is not a host, an address or a network") from None


def any_address(_ip: str, _port: int, _request: Request) -> bool:
    """Allow every address: for crawls inside the user's own network."""
    return True
