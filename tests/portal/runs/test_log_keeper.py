from time import time

import pytest

from crawler.portal.runs.log_keeper import LogKeeper
from crawler.portal.runs.log_search import LogQuery
from crawler.portal.store.runs import Runs
from crawler.portal.store.tasks import Task, Tasks

from .test_log_index import line

DAY = 86400.0


@pytest.fixture
def run(database):
    tasks = Tasks(database)
    number = tasks.save(Task("t", urls=("http://x.test/",)), now=0, who="anna")
    return Runs(database).find(Runs(database).ask(tasks.find(number), now=1, who="anna"))


@pytest.fixture
def root(tmp_path, run):
    (tmp_path / "runs" / str(run.id)).mkdir(parents=True)
    return tmp_path / "runs"


def write(root, run, text):
    with (root / str(run.id) / "log.txt").open("a") as log:
        log.write(text)


def messages(keeper, run):
    return [one.message for one in LogQuery().lines(keeper.index(run))]


def test_the_log_of_a_run_is_followed_to_its_end(database, root, run):
    keeper = LogKeeper(database, root)
    write(root, run, line("a"))
    keeper.step()
    assert messages(keeper, run) == ["a"]

    write(root, run, line("b") + "no end")
    Runs(database).end(run, "failed", 6, time())
    keeper.step()
    keeper.step()

    assert messages(keeper, run) == ["a", "b", "no end"]
    assert keeper._unfinished == set()


def test_a_portal_that_was_away_reads_what_it_has_missed(database, root, run):
    write(root, run, line("a"))
    Runs(database).end(run, "finished", 0, time())

    keeper = LogKeeper(database, root)
    keeper.step()

    assert messages(keeper, run) == ["a"]


def test_new_lines_wake_those_who_wait(database, root, run):
    keeper = LogKeeper(database, root)
    changed = keeper.next_change(run)
    keeper.step()
    assert not changed.is_set()
    write(root, run, line("a"))

    keeper.step()

    assert changed.is_set()
    assert not keeper.next_change(run).is_set()


def test_a_log_is_removed_30_days_after_its_run(database, root, run):
    now = [100 * DAY]
    keeper = LogKeeper(database, root, lambda: now[0])
    write(root, run, line("a"))
    keeper.step()
    Runs(database).end(run, "finished", 0, 100 * DAY)

    now[0] += 29 * DAY
    keeper.step()
    assert (root / str(run.id) / "log.txt").exists()
    now[0] += 2 * DAY
    keeper.step()

    assert list((root / str(run.id)).iterdir()) == []
