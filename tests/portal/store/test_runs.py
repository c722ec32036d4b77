import pytest

from crawler.portal.store.database import Database
from crawler.portal.store.runs import Runs
from crawler.portal.store.tasks import Task, Tasks


@pytest.fixture
def saved(database):
    def save(**options):
        tasks = Tasks(database)
        return tasks.find(
            tasks.save(Task("t", urls=("http://x.test/",), **options), now=0, who="anna")
        )

    return save


def test_runs_of_a_task_are_numbered(database, saved):
    runs, task = Runs(database), saved()

    asked = [runs.find(runs.ask(task, now=1, who="anna")) for _ in range(3)]

    assert [run.number for run in asked] == [1, 2, 3]
    assert len({run.token for run in asked}) == 3
    assert asked[0].job == asked[0].id


def test_a_run_may_continue_the_job_of_another(database, saved):
    runs, task = Runs(database), saved()
    first = runs.find(runs.ask(task, now=1, who="anna"))

    second = runs.find(runs.ask(task, now=2, who="anna", job=first.job))

    assert second.job == first.id != second.id


def test_two_portals_fire_a_time_once(database, saved, tmp_path):
    task, other = saved(overlap="parallel"), Database(tmp_path / "portal.db")

    fired = [Runs(one).fire(task, 60.0, now=61) for one in (database, other, database)]

    assert [run is not None for run in fired] == [True, False, False]
    assert len(Runs(database).active()) == 1
    other.close()


def test_two_portals_start_a_run_once(database, saved, tmp_path):
    other = Database(tmp_path / "portal.db")
    run = Runs(database).find(Runs(database).ask(saved(), now=1, who="anna"))

    assert [Runs(one).begin(run, 2) for one in (database, other)] == [True, False]
    other.close()


@pytest.mark.parametrize(("overlap", "number"), [("skip", 1), ("queue", 2), ("parallel", 3)])
def test_overlap_decides_about_times_while_a_run_goes_on(database, saved, overlap, number):
    runs, task = Runs(database), saved(overlap=overlap)
    runs.fire(task, 60.0, now=60)
    [first] = runs.active()
    runs.begin(first, 60)

    for due in (120.0, 180.0):
        runs.fire(task, due, now=due)

    assert len(runs.active()) == number


def test_a_run_that_has_ended_is_not_active(database, saved):
    runs, task = Runs(database), saved()
    run = runs.find(runs.ask(task, now=1, who="anna"))

    runs.end(run, "failed", 6, 5)

    assert runs.active() == []
    [ended] = runs.of_task(task.id)
    assert (ended.state, ended.exit, ended.ended) == ("failed", 6, 5)


def test_a_page_of_runs_is_found_by_an_index_whatever_is_asked_for(database, saved):
    runs, task = Runs(database), saved()
    for now in (1, 2, 3):
        runs.ask(task, now=now, who="anna")
    runs.end(runs.find(2), "failed", 5, now=4.0)
    asked = [{}, {"task": task.id}, {"state": "failed"}, {"task": task.id, "state": "queued"}]
    queries = []
    database._connection.set_trace_callback(queries.append)

    found = [[run.id for run in runs.page(3, 2, **each)] for each in asked]
    since = [run.id for run in runs.since(3.0)]

    database._connection.set_trace_callback(None)
    assert (found, since) == ([[2, 1], [2, 1], [2], [1]], [2])
    plans = [
        " ".join(row["detail"] for row in database.rows(f"EXPLAIN QUERY PLAN {query}"))
        for query in queries
    ]
    assert not any("SCAN" in plan for plan in plans), plans
    assert not any("TEMP B-TREE" in plan for plan in plans[:-1]), plans
