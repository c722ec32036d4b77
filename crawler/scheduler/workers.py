"""Workers: the greenlets that take data from the pools, and what to do when one is held up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any, TypeVar

import gevent
from gevent.event import Event
from gevent.pool import Group

from ..buffer import Pool
from ..data import Request
from ..errors import PoolClosed
from .time_limit import LeftBehind, ModuleTimer
from .visits import Visit, Visits

T = TypeVar("T")

#: Seconds before a worker that has failed is begun anew.
_PAUSE = 0.1

#: One stage: works on a datum of a visit, with the timer entered while a module has it.
Stage = Callable[[Visit, T, ModuleTimer], None]


class Workers:
    """
    As many greenlets for each pool as were asked for, each with one datum in hand at most.

    A worker that is killed is replaced. While one waits for another visit, a substitute works
    in its place. One whose module swallows its time limit is left behind for good: LeftBehind
    ends it, so that it touches nothing of its visit any more, and another worker takes its
    place.

    *do* carries out a stage on a datum and raises nothing but what ends the greenlet;
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
        #: What each of them has in hand.
        self._at_work: dict[Any, tuple[Visit, ModuleTimer]] = {}
        #: Returns the request that a module works on at this very moment; any thread may call it,
        #: and one that keeps it keeps nothing else of the run alive.
        self.working_on = partial(_worked_on, self._at_work)

    def pump(self, pool: Pool[tuple[Visit, T]], stage: Stage[T], number: int) -> None:
        """Let *number* workers carry out *stage* on what comes into *pool*."""
        for _ in range(number):
            keep(self._group, self._visits, self._work, pool, stage)

    def waiting(self, pool: Pool[tuple[Visit, T]], stage: Stage[T]) -> AbstractContextManager[None]:
        """Let another worker serve *pool* while the one that enters this waits."""
        visit, timer = self._at_work.get(gevent.getcurrent(), (None, None))
        if visit is None or timer is None:
            return nullcontext()
        return self._stood_in(visit, timer, pool, stage)

    @property
    def own_visit(self) -> Visit | None:
        """The visit that the calling greenlet has in hand; None if it is not a worker."""
        visit, _ = self._at_work.get(gevent.getcurrent(), (None, None))
        return visit

    def kill(self, timeout: float) -> None:
        """End all of them; those that do not end within *timeout* seconds are still counted."""
        self._group.kill(timeout=timeout)

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
                self._at_work[me] = (visit, timer)
                self._do(stage, visit, datum, timer)
                del self._at_work[me]
        except (PoolClosed, LeftBehind):
            return
        finally:
            self._at_work.pop(me, None)
            timer.close()

    @contextmanager
    def _stood_in(
        self, visit: Visit, timer: ModuleTimer, pool: Pool[tuple[Visit, T]], stage: Stage[T]
    ) -> Iterator[None]:
        """Let another greenlet work while this one waits; it ends with what it has in hand."""
        back = Event()
        substitute = self._group.spawn(self._work, pool, stage, back)
        try:
            with timer.paused(), self._visits.standing_still(visit):
                yield
        finally:
            back.set()
            gevent.get_hub().loop.run_callback(self._dismiss, substitute)

    def _dismiss(self, substitute: gevent.Greenlet[..., None]) -> None:
        """Run by the hub: by now the substitute may have something in hand, and then finishes it."""
        if substitute not in self._at_work:
            substitute.throw(gevent.GreenletExit)

    def _leave_behind(self, worker: object, pool: Pool[Any], stage: Stage[Any]) -> None:
        """Continue without *worker*, whose module swallows its time limit; run by the hub."""
        visit, _ = self._at_work.pop(worker)
        self._group.spawn(self._take_over, visit, pool, stage)

    def _take_over(self, visit: Visit, pool: Pool[Any], stage: Stage[Any]) -> None:
        """End *visit*, and work in the place of the greenlet that was left behind with it."""
        self._abandon(stage, visit)
        self._visits.close(visit)
        if not self._visits.ending:
            self._work(pool, stage)


def keep(
    group: Group, visits: Visits, function: Callable[..., None], *args: Any, after: float = 0.0
) -> None:
    """
    Run *function* in a greenlet of *group*, and again if anything ends it before the visits end.

    One that fails is begun anew after a pause: it may fail each time, and at once.
    """

    def again(ended: gevent.Greenlet[..., None]) -> None:
        if not visits.ending:
            pause = 0.0 if ended.successful() else _PAUSE
            keep(group, visits, function, *args, after=pause)

    greenlet: Any = gevent.spawn_later(after, function, *args)
    group.add(greenlet)
    greenlet.link(again)


def _worked_on(at_work: Mapping[Any, tuple[Visit, ModuleTimer]]) -> Request | None:
    """
    Return the request that the greenlet which runs has in hand.

    Of all greenlets that have begun, it alone has no frame to return to: nothing needs to be
    noted for this, and it is right after every switch.
    """
    workers = list(at_work.items())
    return next((visit.request for one, (visit, _) in workers if one.gr_frame is None), None)
