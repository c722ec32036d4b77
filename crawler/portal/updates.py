"""Updates: the sections of a page as they change, for any number of browsers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from time import monotonic

from gevent.event import Event

#: Seconds between two updates at least, and between two signs of life at most.
_INTERVAL, _KEEP_ALIVE = 1.0, 15.0
#: Rendering may take this share of the time: the crawl needs the rest. No page is older than this.
_SHARE, _OLDEST = 0.01, 10.0


class Updates:
    """
    Renders a page at most once a second, while somebody watches, and sends what has changed.

    A page that takes long to render, or a machine that is busy, makes updates rarer: one in ten
    seconds at least.

    Each section knows the number of the update in which it changed last. A browser says which
    update it has seen, so one that was away gets all that it has missed, and nothing else.
    """

    def __init__(self, render: Callable[[], Mapping[str, str]]) -> None:
        self.number = 0
        self.watchers = 0
        self._render = render
        self._sections: dict[str, tuple[int, str]] = {}
        #: By the update that browsers have seen, what they get next: most have seen the same.
        self._events: dict[int, str | None] = {}
        self._changed = Event()
        self._due = 0.0
        self._has_ended = False

    def publish(self, *, last: bool = False) -> None:
        """Look for changes, unless nobody watches or the last look was too recent."""
        begun = monotonic()
        if not last and (not self.watchers or begun < self._due):
            return
        self._has_ended = last
        self._update()
        took = monotonic() - begun
        self._due = begun + max(_INTERVAL, min(took / _SHARE, _OLDEST))
        changed, self._changed = self._changed, Event()
        changed.set()

    def watch(self, seen: int) -> Iterator[str]:
        """Yield events for a browser that has seen the update *seen*, until the last one."""
        self.watchers += 1
        try:
            self._update()
            while True:
                waiting, is_last = self._changed, self._has_ended
                if (event := self._event(seen)) is not None:
                    seen = self.number
                    yield event
                if is_last:
                    yield "event: end\ndata: {}\n\n"
                    return
                if not waiting.wait(_KEEP_ALIVE):
                    yield ": still here\n\n"
        finally:
            self.watchers -= 1

    def _update(self) -> None:
        self.number += 1
        self._events.clear()
        for name, text in self._render().items():
            if name not in self._sections or self._sections[name][1] != text:
                self._sections[name] = (self.number, text)

    def _event(self, seen: int) -> str | None:
        """Return what has changed since the update *seen*, or None if nothing has."""
        if seen not in self._events:
            self._events[seen] = self._new_event(seen)
        return self._events[seen]

    def _new_event(self, seen: int) -> str | None:
        changed = {name: text for name, (number, text) in self._sections.items() if number > seen}
        if not changed:
            return None
        return f"id: {self.number}\nevent: sections\ndata: {json.dumps(changed)}\n\n"
