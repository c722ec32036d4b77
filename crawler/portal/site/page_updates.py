"""PageUpdates: the changes on pages, for those that somebody watches."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Generic, TypeVar

import gevent

from ..updates import Updates

Key = TypeVar("Key", bound=Hashable)

#: Seconds between two looks at a page that somebody watches.
_INTERVAL = 1.0


class PageUpdates(Generic[Key]):
    """Pages by their key: *render* returns the sections of one, *is_over* whether it changes no more."""

    def __init__(
        self, render: Callable[[Key], Mapping[str, str]], is_over: Callable[[Key], bool]
    ) -> None:
        self._render = render
        self._is_over = is_over
        self._updates: dict[Key, Updates] = {}

    def watch(self, key: Key, seen: int) -> Iterator[str]:
        """Yield events for a browser that has seen the update *seen*, until the page is over."""
        if key not in self._updates:
            self._updates[key] = Updates(lambda: self._render(key))
            gevent.spawn(self._follow, key)
        return self._updates[key].watch(seen)

    def _follow(self, key: Key) -> None:
        """Look for changes once a second, until the page is over or nobody watches."""
        updates = self._updates[key]
        while updates.watchers or not updates.number:
            gevent.sleep(_INTERVAL)
            if self._is_over(key):
                break
            updates.publish()
        del self._updates[key]
        updates.publish(last=True)
