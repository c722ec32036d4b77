"""Real runs: each test waits for what happens, never for a time."""

from contextlib import suppress
from itertools import count

import gevent
import pytest

from crawler.portal.runs.live_client import LiveClient
from crawler.portal.runs.runner import Runner
from crawler.portal.store.alarms import Alarms
from crawler.portal.store.database import Database
from crawler.portal.store.runs import Runs
from crawler.portal.store.tasks import Task, Tasks

QUICK = {"delay": "0", "robots": "false", "allow_private": "true", "depth": "3"}


class Clock:
    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def runner(database, tmp_path, sources, clock):
    runner = Runner(database, tmp_path / "runs", sources, clock)
    yield runner
    for run in Runs(database).active():
        runner.process(run).stop()


def ask(database, **options):
    tasks = Tasks(database)
    task = Task(**{"name": "t", "settings": QUICK} | options)
    assert task.problems() == {}
    number = tasks.save(task, now=1_000_000.0, who="anna")
    return Runs(database).ask(tasks.find(number), now=1_000_000.0, who="anna")


def step_until(runner, database, run, *states):
    with gevent.Timeout(120):
        while (found := Runs(database).find(run)).state not in states:
            runner.step()
            gevent.sleep(0.05)
    return found


@pytest.mark.parametrize(
    ("code", "state"),
    [
        (0, "finished"),
        (1, "finished"),
        (3, "stopped"),
        (130, "stopped"),
        (5, "failed"),
        (-9, "lost"),
    ],
)
def test_the_exit_code_of_a_run_is_its_state(database, runner, tmp_path, code, state):
    run = Runs(database).find(ask(database, urls=("http://127.0.0.1:9/",), if_lost="fail"))
    Runs(database).begin(run, 1_000_000.0)
    place = tmp_path / "runs/1/exit"
    place.parent.mkdir(parents=True)
    place.write_text(f"{code}\n")

    runner.step()

    run = Runs(database).find(run.id)
    assert (run.state, run.exit, run.ended) == (state, code, place.stat().st_mtime)


def test_a_run_outlives_the_portal_and_is_known_again(database, runner, sources, held, tmp_path):
    number = ask(database, urls=(held.url("/0"),))
    run = step_until(runner, database, number, "running")
    with gevent.Timeout(120):
        while LiveClient(runner.process(run)).figures() is None:
            gevent.sleep(0.1)

    again = Database(tmp_path / "portal.db")  # another portal, which is not its parent
    other = Runner(again, tmp_path / "runs", sources, lambda: 1_000_100.0)
    other.step()
    assert Runs(again).find(number).state == "running"
    assert LiveClient(other.process(run)).post("pause")
    assert LiveClient(other.process(run)).figures().state == "paused"
    assert LiveClient(other.process(run)).post("resume")
    other.process(run).stop()
    held.release.set()
    ended = step_until(other, again, number, "stopped", "finished", "failed", "lost")
    again.close()

    assert (ended.state, ended.exit) == ("stopped", 3)


SPINS = """
import signal

from crawler import Spider

class Spins(Spider):
    name = "spins"

    def parse(self, response):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            pass
"""


def test_a_run_that_does_not_stop_is_killed_and_not_continued(
    database, runner, clock, held, tmp_path
):
    start = f"    start_urls = [{held.url('/0')!r}]\n\n    def"
    (tmp_path / "spins.py").write_text(SPINS.replace("    def", start))
    number = ask(database, spider="spins.py:Spins")
    run = step_until(runner, database, number, "running")
    with gevent.Timeout(120):
        while not held.requests:
            gevent.sleep(0.05)

    runner.process(run).stop()
    runner.step()
    clock.now += 61
    ended = step_until(runner, database, number, "stopped", "lost", "failed", "finished")

    assert (ended.state, ended.exit) == ("stopped", -9)
    assert Runs(database).active() == []


def test_a_run_can_be_stopped_before_its_process_is_there(database, runner, held):
    number = ask(database, urls=(held.url("/0"),))
    run = step_until(runner, database, number, "running")

    runner.process(run).stop()  # nothing holds its lock yet

    assert step_until(runner, database, number, "stopped", "lost", "failed").state == "stopped"


def test_a_run_whose_process_is_gone_is_lost(database, runner, clock):
    run = Runs(database).find(ask(database, urls=("http://127.0.0.1:9/",)))
    Runs(database).begin(run, clock.now)

    runner.step()
    assert Runs(database).find(run.id).state == "running"
    clock.now += 61
    runner.step()

    assert Runs(database).find(run.id).state == "lost"


def lose(database, runner, clock, run):
    """Let a run begin, and its process vanish."""
    Runs(database).begin(Runs(database).find(run), clock.now)
    clock.now += 61
    runner.step()


def test_the_job_of_a_lost_run_is_continued_three_times(database, runner, clock):
    runner._start_queued = lambda: None
    run, waits = ask(database, urls=("http://127.0.0.1:9/",)), []
    for _ in range(3):
        lose(database, runner, clock, run)
        [again] = Runs(database).active()
        assert (again.job, again.asked_by) == (1, "portal")
        waits.append(again.not_before - clock.now)
        run = again.id
    lose(database, runner, clock, run)

    assert waits == [10.0, 80.0, 600.0]
    assert Runs(database).active() == []
    [alarm] = Alarms(database).open()
    assert alarm.text.startswith("its job was lost 4 times")


def test_a_run_that_is_killed_before_it_begins_begins_in_the_same_way(database, runner, clock):
    runner._start_queued = lambda: None
    run, begun = ask(database, urls=("http://127.0.0.1:9/",)), "live page: http://127.0.0.1:9/x/"
    database.change("UPDATE run SET start = 'retry', reason = 'timeout'")

    lose(database, runner, clock, run)
    [again] = Runs(database).active()
    assert (again.start, again.reason) == ("retry", "timeout")

    place = runner.process(again).path
    place.mkdir(parents=True)
    (place / "log.txt").write_text(begun)
    lose(database, runner, clock, again.id)
    [last] = Runs(database).active()
    assert (last.start, last.reason) == ("", "")


def test_a_lost_run_is_left_if_its_task_says_so(database, runner, clock):
    run = ask(database, urls=("http://127.0.0.1:9/",), if_lost="fail")
    lose(database, runner, clock, run)

    assert [one.state for one in Runs(database).last()] == ["lost"]


def test_a_run_does_not_start_before_its_time(database, runner, clock):
    ask(database, urls=("http://127.0.0.1:9/",))
    database.change("UPDATE run SET not_before = ?", clock.now + 5)
    runner._start = lambda run: None

    runner.step()
    assert [run.state for run in Runs(database).active()] == ["queued"]
    clock.now += 5
    runner.step()

    assert [run.state for run in Runs(database).active()] == ["running"]


def test_two_portals_that_are_killed_at_any_moment_fire_each_time_once(
    database, runner, clock, tmp_path, sources, monkeypatch
):
    """Each of two portals fires; some are killed between the row of the time and that of the run."""
    tasks = Tasks(database)
    task = Task("t", urls=("http://127.0.0.1:9/",), cron="*/5 * * * *", overlap="parallel")
    tasks.save(task, now=clock.now, who="a")
    other = Database(tmp_path / "portal.db")
    portals = [
        Runner(one, tmp_path / "runs", sources, clock) for one in (database, other) for _ in "ab"
    ]
    queue, kills = Runs._queue, count()

    def killed(*arguments):
        if next(kills) % 3 == 0:
            raise KeyboardInterrupt
        return queue(*arguments)

    monkeypatch.setattr(Runs, "_queue", killed)
    for minute in range(60):
        # The clock is set back and forward, as a time server does.
        clock.now += 60 + (-3600 if minute == 20 else 3600 if minute == 21 else 0)
        for portal in portals:
            with suppress(KeyboardInterrupt):
                portal._fire()
    other.close()

    times = [row["due"] for row in database.rows("SELECT due FROM fire ORDER BY due")]
    assert times == sorted(set(times))
    assert len(times) == len(Runs(database).active()) == 12


def test_cron_asks_for_a_run_once(database, runner, clock):
    tasks = Tasks(database)
    tasks.save(Task("t", urls=("http://127.0.0.1:9/",), cron="* * * * *"), now=clock.now, who="a")
    runner._start_queued = lambda: None

    for _ in range(300):
        runner.step()
        clock.now += 1

    [run] = Runs(database).last()
    assert (run.asked_by, run.state) == ("cron", "queued")
    assert len(database.rows("SELECT * FROM fire")) == 5


def test_a_store_that_was_locked_is_an_alarm(database, runner, clock, tmp_path, monkeypatch):
    monkeypatch.setattr("crawler.portal.store.database._PATIENCE", 0.05)
    tasks, other = Tasks(database), Database(tmp_path / "portal.db")
    tasks.save(Task("t", urls=("http://127.0.0.1:9/",), cron="* * * * *"), now=clock.now, who="a")
    runner._start_queued = lambda: None
    clock.now += 60
    with other.transaction():
        runner.try_step()
        runner.try_step()
    other.close()

    for _ in range(3):
        runner.try_step()

    [alarm] = Alarms(database).open()
    assert alarm.text.endswith("1970-01-12 13:47:40+00:00 on: database is locked")
    assert len(Runs(database).last()) == 1


@pytest.mark.parametrize(("jump", "fired"), [(3600, 10 + 70), (-3600, 10 + 10)])
def test_a_clock_that_jumps_fires_each_time_once(database, runner, clock, jump, fired):
    tasks = Tasks(database)
    tasks.save(Task("t", urls=("http://127.0.0.1:9/",), cron="* * * * *"), now=clock.now, who="a")
    runner._start_queued = lambda: None

    for minutes, jumped in ((10, jump), (70, 0)):
        for _ in range(minutes):
            clock.now += 60
            runner.step()
        clock.now += jumped

    due = [row["due"] for row in database.rows("SELECT due FROM fire ORDER BY rowid")]
    assert due == sorted(set(due))
    assert len(due) == fired


def test_a_kill_between_the_time_and_the_start_costs_nothing(database, runner, clock, tmp_path):
    tasks = Tasks(database)
    tasks.save(Task("t", urls=("http://127.0.0.1:9/",), cron="* * * * *"), now=clock.now, who="a")
    clock.now += 120
    runner._fire()  # the portal is killed here

    again = Runner(database, tmp_path / "runs", runner._sources, clock)
    again._fire()

    assert len(Runs(database).active()) == 1


def test_only_one_run_of_a_job_goes_on(database, runner):
    first = ask(database, urls=("http://127.0.0.1:9/",), overlap="parallel")
    task = Tasks(database).all()[0]
    second = Runs(database).ask(task, now=1, who="anna", job=first)
    runs = [Runs(database).find(number) for number in (first, second)]

    assert runner._may_start(runs[1], [])
    assert not runner._may_start(runs[1], [runs[0]])
