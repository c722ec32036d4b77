"""Workers: the greenlets that take data from the pools, and the replacement of those that hang."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any, NamedTuple, TypeVar

import gevent
from gevent.event import Event
from gevent.pool import Group

from ..buffer import Pool
from ..data import Request
from ..errors import PoolClosed
from ..frontier import Taken
from .time_limit import LeftBehind, ModuleTimer
from .visits import Visit, Visits

T = TypeVar("T")

#: Seconds before a worker that has failed is started again.
_PAUSE = 0.1

#: One stage: works on a datum of a visit, and enters the timer while a module works on it.
Stage = Callable[[Visit, T, ModuleTimer], None]


class Recalled(gevent.GreenletExit):
    """Ends a download whose request must be put back."""


class _Held(NamedTuple):
    """A datum that a worker holds: its visit, its timer, and where it is from and what is done to it."""

    visit: Visit
    timer: ModuleTimer
    pool: Pool[tuple[Visit, Any]]
    stage: Stage[Any]


class Workers:
    """
    A fixed number of greenlets for each pool, each of which holds one datum at most.

    A worker that is killed is replaced. While a worker of any stage waits for another visit, a
    substitute works in its place. A worker whose module catches its time limit and continues is left
    behind for good: another worker takes its place, and LeftBehind ends the first one, so that
    it does not touch its visit any more.

    *do* carries out a stage on a datum and raises only exceptions that end the greenlet;
    *abandon* is called with a visit that ends because its worker was left behind in a stage.
    """

    def __init__(
        self,
        visits: Visits,
        time_limit: float,
        *,
        do: Callable[[Stage[Any], Visit, Any, ModuleTimer], None],
        abandon: Callable[[Stage[Any], Visit], None],
    ) -> None:
        self._visits = visits
        self._time_limit = time_limit
        self._do = do
        self._abandon = abandon
        self._group = Group()
        #: The datum that each greenlet holds.
        self._at_work: dict[Any, _Held] = {}
        #: Returns the request that a module works on at this moment. Any thread may call it; a
        #: reference to it keeps nothing else of the run alive.
        self.working_on = partial(_running_request, self._at_work)

    def start(self, pool: Pool[tuple[Visit, T]], stage: Stage[T], number: int) -> None:
        """Start *number* workers that carry out *stage* on the data of *pool*."""
        for _ in range(number):
            keep_running(self._group, self._visits, self._work, pool, stage)

    def waiting(self) -> AbstractContextManager[None]:
        """Return a context in which a worker may wait: a substitute works in its place meanwhile."""
        held = self._at_work.get(gevent.getcurrent())
        return nullcontext() if held is None else self._substituted(held)

    @property
    def own_visit(self) -> Visit | None:
        """The visit of the datum that the calling greenlet holds; None if it is not a worker."""
        held = self._at_work.get(gevent.getcurrent())
        return None if held is None else held.visit

    def kill(self, timeout: float) -> None:
        """Kill all workers; those that do not end within *timeout* seconds still count in len()."""
        self._group.kill(timeout=timeout)

    def recall(self, which: Callable[[Taken], bool]) -> None:
        """Have the downloads end at once for which *which* returns True, by Recalled."""
        for worker, held in list(self._at_work.items()):
            if held.visit.taken.is_in_flight and which(held.visit.taken):
                gevent.get_hub().loop.run_callback(self._recall, worker, held)

    def _recall(self, worker: Any, held: _Held) -> None:
        """End the download of *worker*, unless it is over by now; run by the hub."""
        if self._at_work.get(worker) is held and held.visit.taken.is_in_flight:
            worker.throw(Recalled())

    def __contains__(self, greenlet: object) -> bool:
        return any(greenlet is worker for worker in self._group)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._group)

    def __len__(self) -> int:
        return len(self._group)

    def __repr__(self) -> str:
        return f"<Workers {len(self._at_work)} of {len(self)} at work>"

    def _work(
        self, pool: Pool[tuple[Visit, T]], stage: Stage[T], until: Event | None = None
    ) -> None:
        me = gevent.getcurrent()
        timer = ModuleTimer(self._time_limit, partial(self._leave_behind, me, pool, stage))
        try:
            while until is None or not until.is_set():
                visit, datum = pool.get()
                self._at_work[me] = _Held(visit, timer, pool, stage)
                self._do(stage, visit, datum, timer)
                del self._at_work[me], visit, datum  # a large page, perhaps, while this one waits
        except (PoolClosed, LeftBehind):
            return
        finally:
            self._at_work.pop(me, None)
            timer.close()

    @contextmanager
    def _substituted(self, held: _Held) -> Iterator[None]:
        """Let a substitute work while this greenlet waits; it ends after the datum it then holds."""
        back = Event()
        substitute = self._group.spawn(self._work, held.pool, held.stage, back)
        try:
            with held.timer.paused(), self._visits.waiting(held.visit):
                yield
        finally:
            back.set()
            gevent.get_hub().loop.run_callback(self._dismiss, substitute)

    def _dismiss(self, substitute: gevent.Greenlet[..., None]) -> None:
        """End *substitute*, unless it holds a datum, which it then finishes first; run by the hub."""
        if substitute not in self._at_work:
            substitute.throw(gevent.GreenletExit)

    def _leave_behind(self, worker: object, pool: Pool[Any], stage: Stage[Any]) -> None:
        """Replace *worker*, whose module ignores its time limit; run by the hub."""
        held = self._at_work.pop(worker)
        self._group.spawn(self._take_over, held.visit, pool, stage)

    def _take_over(self, visit: Visit, pool: Pool[Any], stage: Stage[Any]) -> None:
        """End *visit*, then work in place of the greenlet that was left behind with it."""
        self._abandon(stage, visit)
        self._visits.close(visit)
        if not self._visits.ending:
            self._work(pool, stage)


def keep_running(
    group: Group, visits: Visits, function: Callable[..., None], *args: Any, after: float = 0.0
) -> None:
    """
    Run *function* in a greenlet of *group*; restart it whenever it ends before the visits do.

    A function that has failed is restarted after a pause: it may fail at once each time.
    """

    def restart(ended: gevent.Greenlet[..., None]) -> None:
        if not visits.ending:
            pause = 0.0 if ended.successful() else _PAUSE
            keep_running(group, visits, function, *args, after=pause)

    greenlet: Any = gevent.spawn_later(after, function, *args)
    group.add(greenlet)
    greenlet.link(restart)


def _running_request(at_work: Mapping[Any, _Held]) -> Request | None:
    """
    Return the request of the worker that is the running greenlet; None if no worker is.

    Of all greenlets that have started, only the running one has no suspended frame: this needs
    no bookkeeping, and is correct after every switch.
    """
    workers = list(at_work.items())
    return next((held.visit.request for worker, held in workers if worker.gr_frame is None), None)
