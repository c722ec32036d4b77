"""Exposure: where a portal listens, by which names it is reached, and what protects it."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gevent import ssl

from .access import is_here

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Exposure:
    """
    *names* are those that browsers may use besides the ones of this machine.

    *certificate* and *key* are PEM files; the key may be in the file of the certificate. What a
    proxy says of a request is believed only if the portal is *behind_proxy*.
    """

    address: str = LOOPBACK
    names: frozenset[str] = frozenset()
    certificate: Path | None = None
    key: Path | None = None
    behind_proxy: bool = False

    def problem(self) -> str:
        """Return why a portal may not be exposed like this; "" if it may."""
        if self.key and not self.certificate:
            return "--tls-key needs --tls-cert"
        if _is_loopback(self.address):
            return ""
        if not self.certificate and not self.behind_proxy:
            return f"the address {self.address} needs --tls-cert, or --behind-proxy"
        if not self.names:
            return f"the address {self.address} needs --allow-host with the name that browsers use"
        return ""

    @property
    def scheme(self) -> str:
        return "https" if self.certificate else "http"

    @property
    def url_host(self) -> str:
        """The host of the URL that the portal prints: with a certificate it must be a name of it."""
        named = min(self.names, default="") if self.certificate else ""
        named = named or (LOOPBACK if self.address in ("0.0.0.0", "::") else self.address)  # noqa: S104
        return f"[{named}]" if ":" in named else named

    def knows(self, host: str) -> bool:
        """Return whether a Host header has a name of this portal: others may lead here, too."""
        return is_here(host.lower(), self.names)

    def tls_options(self) -> dict[str, Any]:
        """Return the options of a server; raise OSError if the files are not a pair."""
        if self.certificate is None:
            return {}
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.certificate, self.key)
        return {"ssl_context": context}


#: For this machine alone.
HERE = Exposure()


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"
