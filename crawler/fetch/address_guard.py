"""
AddressGuard: no page can send the crawler to an address that only its user may reach.

A link, a redirect or a name server can point to 127.0.0.1, to a printer, or to the address
where a cloud serves its credentials. So addresses are checked when a connection is made: by
then every spelling has been parsed and every name resolved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
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

#: Returns whether a request may connect to an address: (ip, port, request).
AllowAddress: TypeAlias = "Callable[[str, int, Request], bool]"

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
    Decides whether a request may connect to an address: the default *allow_address* of a client.

    Private, loopback, link-local, shared, multicast and reserved addresses are refused,
    as IPv4, as IPv6, and as IPv4 embedded in IPv6, with two exceptions:

    - *allowed*: names of hosts, addresses, and networks such as "10.0.0.0/8".
    - The hosts that the request says are *trusted*: a crawl trusts those of its first URLs that
      are an address, or localhost. Such a host is trusted for that address only, so no name
      server can extend it.

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

    def __call__(self, ip: str, port: int, request: Request) -> bool:
        return not self.refusal(ip, port, request)

    def refusal(self, ip: str, port: int, request: Request) -> str:
        """Return why *request* may not connect to an address; "" if it may."""
        try:
            address, inner = _read(ip)
            host = urls.host(request.url)
        except ValueError:
            return f"{ip!r} is not an address, or {request.url[:200]!r} not a URL"
        if port in self._refused_ports and (address.is_loopback or address.is_unspecified):
            return f"{_endpoint(ip, port)} is a service of this machine that is always refused"
        if not inner or request.proxy or self._allows(host, address, request.trusted or ()):
            return ""
        return (
            f"{_endpoint(ip, port)} is a private address: to fetch from it, "
            f"add {host!r} to the setting allow_addresses"
        )

    def _allows(self, host: str, address: _Address, trusted: Collection[str]) -> bool:
        if host in self._allowed_hosts or (host in trusted and _is_own(host, address)):
            return True
        return any(address in network for network in self._allowed_networks)

    def __repr__(self) -> str:
        allowed = {*self._allowed_hosts, *map(str, self._allowed_networks)}
        return f"<AddressGuard, allowed: {', '.join(sorted(allowed)) or 'none'}>"


def any_address(_ip: str, _port: int, _request: Request) -> bool:
    """Allow every address: for crawls inside the user's own network."""
    return True


def refusal(allow_address: AllowAddress, ip: str, port: int, request: Request) -> str:
    """Return why *allow_address* refuses an address to *request*; "" if it allows it."""
    if isinstance(allow_address, AddressGuard):
        return allow_address.refusal(ip, port, request)
    return "" if allow_address(ip, port, request) else f"{_endpoint(ip, port)} is not allowed"


def is_inner(ip: str) -> bool:
    """Return whether *ip* is an address without public servers."""
    return _read(ip)[1]


@lru_cache(maxsize=1 << 12)
def _read(ip: str) -> tuple[_Address, bool]:
    """Return the address that *ip* stands for, and whether it is an inner one."""
    address = _unwrapped(ip_address(ip))
    if isinstance(address, IPv4Address):
        return address, any(address in network for network in _INNER_IPV4)
    public = address in _UNICAST and not any(address in network for network in _INNER_UNICAST)
    return address, not public


def _is_own(host: str, address: _Address) -> bool:
    """Return whether *address* is the one that *host*, an address or localhost, stands for."""
    if urls.is_address(host):
        return address == _read(host)[0]
    return urls.is_local_name(host) and address.is_loopback


def _endpoint(ip: str, port: int) -> str:
    return f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"


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
