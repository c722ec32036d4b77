"""Module ids: a letter for the kind, a serial number, and the address of a remote module."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from functools import total_ordering

_MID = re.compile(r"(?P<letter>[^0-9|])(?P<serial>[^|]*)(?:\|(?P<address>.*))?", re.DOTALL)
_NUMBER = re.compile(r"0|[1-9][0-9]{0,19}", re.ASCII)
_MAX_SERIAL = 2**64 - 1

#: Stands in place of an IP for a child of this process; the port is then the child's number.
LOCAL = "local"
#: The letter of each kind of module.
LETTERS = {"D": "downloader", "A": "analyzer", "P": "pipeline"}


@dataclass(frozen=True, order=True, slots=True)
class Address:
    """
    The address of a module in another process; an IPv6 address is printed in brackets.

    ``local:2`` is not a port but the second child of this process.
    """

    ip: str
    port: int

    def __post_init__(self) -> None:
        try:
            ip = self.ip if self.ip == LOCAL else str(ipaddress.ip_address(self.ip))
        except ValueError:
            raise ValueError(f"illegal module IP: {self.ip!r}") from None
        if not 1 <= self.port <= 65535:
            raise ValueError(f"illegal module port: {self.port!r} is not in 1..65535")
        object.__setattr__(self, "ip", ip)

    @classmethod
    def parse(cls, text: str) -> Address:
        ip, colon, port = text.rpartition(":")
        if not colon or not ip:
            raise ValueError(f"illegal module address: {text!r} is not ip:port")
        if not _NUMBER.fullmatch(port):
            raise ValueError(f"illegal module port: {port!r} is not a number")
        bracketed = ip.startswith("[") and ip.endswith("]")
        if bracketed != (":" in ip):
            raise ValueError(f"illegal module IP: {ip!r} (only IPv6 is written in brackets)")
        return cls(ip[1:-1] if bracketed else ip, int(port))

    def __str__(self) -> str:
        return f"[{self.ip}]:{self.port}" if ":" in self.ip else f"{self.ip}:{self.port}"


@total_ordering
@dataclass(frozen=True, slots=True)
class MID:
    """
    ``D7`` is the seventh downloader, ``D7|10.0.0.5:9000`` is one on another machine, and
    ``A2|local:1`` is an analyzer in a child process.

    Ids sort by kind (downloaders, analyzers, pipelines), then by number.
    """

    letter: str
    serial: int
    address: Address | None = None

    def __post_init__(self) -> None:
        if self.letter not in LETTERS:
            raise ValueError(
                f"illegal module letter: {self.letter!r} is not one of {', '.join(LETTERS)}"
            )
        if not 0 <= self.serial <= _MAX_SERIAL:
            raise ValueError(f"illegal module serial number: {self.serial!r} is not in 0..2^64-1")

    @classmethod
    def parse(cls, text: str) -> MID:
        parts = _MID.fullmatch(text)
        if parts is None or not parts["serial"]:
            raise ValueError(
                f"illegal module id: {text!r} is not a letter and a number, such as D1"
            )
        if not _NUMBER.fullmatch(parts["serial"]):
            raise ValueError(f"illegal module serial number: {parts['serial']!r} in {text!r}")
        address = None if parts["address"] is None else Address.parse(parts["address"])
        return cls(parts["letter"], int(parts["serial"]), address)

    def __lt__(self, other: MID) -> bool:
        return self._order() < other._order() if isinstance(other, MID) else NotImplemented

    def _order(self) -> tuple[int, int, str]:
        return list(LETTERS).index(self.letter), self.serial, str(self.address or "")

    def __str__(self) -> str:
        place = "" if self.address is None else f"|{self.address}"
        return f"{self.letter}{self.serial}{place}"


class SerialNumbers:
    """Numbers from *start* to *last*, then from *start* again."""

    def __init__(self, start: int = 1, last: int = _MAX_SERIAL) -> None:
        if not 0 <= start <= last <= _MAX_SERIAL:
            raise ValueError(f"serial numbers cannot go from {start!r} to {last!r}")
        self.start = start
        self.last = last
        self.cycles = 0
        #: The number that the next call of take() returns.
        self.next = start

    def take(self) -> int:
        number = self.next
        if number == self.last:
            self.next = self.start
            self.cycles += 1
        else:
            self.next = number + 1
        return number

    def __repr__(self) -> str:
        return f"<SerialNumbers {self.start}..{self.last}, next {self.next}, {self.cycles} cycles>"
