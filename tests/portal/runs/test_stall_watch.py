from dataclasses import replace

import pytest

from crawler.frontier import UrlCounts
from crawler.portal.figures import RunFigures
from crawler.portal.runs.stall_watch import StallWatch
from crawler.portal.store.alarms import Alarms
from crawler.portal.store.runs import Runs
from crawler.portal.store.tasks import Task, Tasks

FIGURES = RunFigures(
    "t #1",
    "running",
    "",
    UrlCounts(admitted=5, done=2),
    {"responses": 2, "next_wake": 0.0},
    limit="the site answers slowly",
    remedy="raise per_host",
)


class Watched:
    """A run that goes on, and its watch."""

    def __init__(self, database):
        self._tasks, self._runs = Tasks(database), Runs(database)
        number = self._tasks.save(Task("t", urls=("http://x.test/",)), now=0, who="anna")
        self.id = self._runs.ask(self._tasks.find(number), now=0, who="anna")
        self._runs.begin(self._runs.find(self.id), 0)
        self.figures, self.now = FIGURES, 1000.0
        self.alarms = Alarms(database)
        self.jumped = 0.0
        clocks = (lambda: self.now + self.jumped, lambda: self.now)
        self._watch = StallWatch(database, lambda _: self.figures, *clocks)

    def look(self, seconds=0.0):
        self.now += seconds
        self._watch.step()
        return self._runs.find(self.id).stalled


@pytest.fixture
def watched(database):
    return Watched(database)


def test_a_run_in_which_nothing_ends_is_an_alarm_that_names_the_cause(watched):
    assert [watched.look(), watched.look(299)] == [None, None]
    assert watched.look(1) == 1000.0
    assert watched.look(900) == 1000.0

    [alarm] = watched.alarms.open()
    assert (alarm.subject, alarm.text) == (
        "t #1",
        "nothing has ended for 5 minutes: the site answers slowly; raise per_host",
    )


def test_a_clock_that_jumps_is_no_alarm(watched):
    watched.look()
    for watched.jumped in (3600.0, -3600.0):
        assert watched.look(15) is None

    assert watched.look(270) == 1000.0 - 3600.0


@pytest.mark.parametrize(
    "change",
    [
        {"urls": UrlCounts(admitted=5, done=3)},
        {"summary": {"responses": 3}},
        {"state": "paused"},
        {"summary": {"responses": 2, "next_wake": 4000.0}},
    ],
    ids=["a page ended", "a response came", "paused", "the next one is due later"],
)
def test_a_run_that_goes_on_or_waits_is_not_stalled(watched, change):
    watched.look()
    watched.figures = replace(FIGURES, **change)
    assert watched.look(301) is None
    assert watched.alarms.open() == []


def test_a_run_that_goes_on_again_is_stalled_no_more(watched):
    watched.look()
    assert watched.look(300)
    watched.figures = replace(FIGURES, urls=UrlCounts(admitted=5, done=4))

    assert watched.look(15) is None
