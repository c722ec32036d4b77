"""RunUpdates: the changes on the pages of runs, for those that somebody watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import gevent

from ..figures import RunFigures
from ..rendering import SECTIONS, sections
from ..store.runs import Run
from ..updates import Updates

#: Seconds between two looks at a run that somebody watches.
_INTERVAL = 1.0
#: The buttons have the secret of a session, and updates are for all sessions.
_SECTIONS = tuple(name for name in SECTIONS if name != "controls")


class RunUpdates:
    """*find* returns a run by its number, *look* its figures."""

    def __init__(self, find: Callable[[int], Run], look: Callable[[Run], RunFigures]) -> None:
        self._find = find
        self._look = look
        self._updates: dict[int, Updates] = {}

    def watch(self, run: int, seen: int) -> Iterator[str]:
        """Yield events for a browser that has seen the update *seen*, until the run is over."""
        if run not in self._updates:
            self._updates[run] = Updates(lambda: self._sections(run))
            gevent.spawn(self._follow, run)
        return self._updates[run].watch(seen)

    def _follow(self, run: int) -> None:
        """Look for changes once a second, until the run is over or nobody watches."""
        updates = self._updates[run]
        while updates.watchers or not updates.number:
            gevent.sleep(_INTERVAL)
            if not self._find(run).is_active:
                break
            updates.publish()
        del self._updates[run]
        updates.publish(last=True)

    def _sections(self, run: int) -> Mapping[str, str]:
        found = self._find(run)
        return sections(self._look(found), _SECTIONS, is_live=found.is_active)
