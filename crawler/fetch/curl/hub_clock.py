"""HubClock: since when the hub has not looked for events."""

from __future__ import annotations

from time import monotonic
from typing import Any

#: If the hub slept for so many seconds, and this part of the time for which it was busy before,
#: an event woke it. Otherwise one was there before, and only the kernel took its time.
_SLEPT, _PART = 0.0002, 1 / 8
#: Priorities of libev: after everything else that runs before the hub sleeps, and before
#: everything that runs when it wakes.
_LAST, _FIRST = -2, 2


class HubClock:
    """
    Knows a moment, *looked*, after which all events that the hub now processes have happened.

    While a callback uses the CPU, replies arrive and limits pass, but the hub sees neither. So
    the time between *looked* and now is our own, and none of the server's. The clock runs
    until it is closed; a hub that sleeps does not wake for it.
    """

    def __init__(self, loop: Any) -> None:
        self.looked = self._slept_at = self._woke_at = monotonic()
        self._watchers = [loop.check(ref=False, priority=_FIRST)]
        self._watchers[0].start(self._wakes)
        try:
            self._watchers.append(loop.prepare(ref=False, priority=_LAST))
        except TypeError:  # libuv has none: the hub is then taken to sleep until it wakes
            return
        self._watchers[1].start(self._falls_asleep)

    def close(self) -> None:
        while self._watchers:
            self._watchers.pop().close()

    def _falls_asleep(self) -> None:
        self._slept_at = monotonic()

    def _wakes(self) -> None:
        now = monotonic()
        slept, busy = now - self._slept_at, self._slept_at - self._woke_at
        self.looked = now if slept > _SLEPT + _PART * busy else self._woke_at
        self._woke_at = now
