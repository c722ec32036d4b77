"""AddressLimits: hosts that share an IP address share its limits."""

from __future__ import annotations

from .due_heaps import DueHeaps
from .host import Address, Host
from .politeness import Politeness


class AddressLimits:
    """
    Lets hosts wait for the address they share, first come, first served.

    An address that hosts wait for rests and gets ready like a host.
    """

    def __init__(self, politeness: Politeness, due: DueHeaps) -> None:
        self._politeness = politeness
        self._due = due

    def must_wait(self, host: Host, address: Address, now: float) -> bool:
        """Return whether *host*, which is due, must wait for *address*; if so it begins to wait."""
        if not address.waiting and self._is_free(address, now):
            return False
        host.waits_for_address = True
        address.waiting.append(host)
        self.schedule(address)
        return True

    def pop_waiting(self, address: Address, now: float) -> Host | None:
        """Take out the host that has waited longest; None if none may use *address* now."""
        if not address.waiting or not self._is_free(address, now):
            return None
        host = address.waiting.popleft()
        host.waits_for_address = False
        return host

    def count(self, address: Address, now: float, *, by: int) -> None:
        """Change the number of requests in flight; *address* rests from now."""
        address.in_flight += by
        address.ready_at = max(address.ready_at, now + self._politeness.address_delay)

    def schedule(self, address: Address) -> None:
        """Wake *address* for the next host that waits, when it may be used."""
        start = self._due.starts_at(address)
        if start is not None:
            self._due.rest_until(start, address)

    def _is_free(self, address: Address, now: float) -> bool:
        return address.in_flight < self._politeness.address_limit and address.ready_at <= now
