import sqlite3

import pytest

from crawler.portal.store.allocations import Allocation, Allocations
from crawler.portal.store.runs import Runs
from crawler.portal.store.tasks import Task, Tasks


@pytest.fixture
def run(database):
    tasks = Tasks(database)
    task = tasks.find(tasks.save(Task("t", urls=("http://a.test/",)), now=1, who="anna"))
    return Runs(database).ask(task, now=1, who="anna")


def test_a_run_has_the_last_state_of_each_of_its_agents(database, run):
    allocations = Allocations(database)
    for agent, state, at in (("b", "asked", 1.0), ("a", "asked", 1.0), ("b", "working", 2.0)):
        allocations.note(Allocation(run, agent, state, at))

    assert allocations.of_run(run) == [
        Allocation(run, "a", "asked", 1.0),
        Allocation(run, "b", "working", 2.0),
    ]
    assert allocations.of_run(run + 1) == []


def test_a_run_that_is_not_there_has_no_agents(database):
    with pytest.raises(sqlite3.IntegrityError):
        Allocations(database).note(Allocation(99, "a", "asked", 1.0))
