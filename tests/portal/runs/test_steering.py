"""What a run does when it is asked to; the real process is in test_runner and in the browser."""

import pytest

from crawler.errors import StateError
from crawler.portal.runs.runner import Runner
from crawler.portal.runs.steering import Steering
from crawler.portal.store.runs import Runs
from crawler.portal.store.tasks import Task, Tasks


@pytest.fixture
def run(database):
    tasks = Tasks(database)
    number = tasks.save(Task("t", urls=("http://127.0.0.1:9/",)), now=0, who="anna")
    return Runs(database).find(Runs(database).ask(tasks.find(number), now=1, who="anna"))


@pytest.fixture
def steering(database, sources, tmp_path):
    return Steering(database, Runner(database, tmp_path / "runs", sources), lambda: 5.0)


def test_a_run_in_the_queue_is_taken_from_it(database, steering, run):
    steering.do("stop", run, "anna")

    stopped = Runs(database).find(run.id)
    assert (stopped.state, stopped.ended) == ("stopped", 5.0)
    with pytest.raises(StateError, match="over"):
        steering.do("stop", stopped, "anna")


def test_resume_continues_the_job_of_a_run_that_is_over(database, steering, run):
    Runs(database).end(run, "stopped", 3, 4.0)

    again = Runs(database).find(steering.do("resume", Runs(database).find(run.id), "bob"))

    assert (again.job, again.state, again.asked_by) == (run.job, "queued", "bob")


def test_restart_queues_a_run_of_the_same_job(database, steering, run):
    Runs(database).begin(run, 2.0)
    running = Runs(database).find(run.id)

    again = Runs(database).find(steering.do("restart", running, "bob"))

    assert (again.job, again.state) == (run.job, "queued")
    with pytest.raises(StateError, match="goes on"):
        steering.do("restart", again, "bob")


def test_a_run_that_does_not_answer_is_reported(steering, run):
    with pytest.raises(StateError, match="does not answer"):
        steering.do("pause", run, "anna")


def test_who_asked_for_what_is_written_down(database, steering, run):
    steering.do("stop", run, "eve")

    row = database.rows("SELECT who, what FROM audit")[-1]
    assert tuple(row) == ("eve", "asked to stop t #1")


def test_what_has_failed_is_fetched_again_by_a_run_of_the_same_job(database, steering, run):
    Runs(database).end(run, "finished", 0, 4.0)
    steering.retry_failed(run, "bob", "http_500")

    [again] = Runs(database).active()
    assert (again.job, again.start, again.reason) == (run.job, "retry", "http_500")
    row = database.rows("SELECT who, what FROM audit")[-1]
    assert tuple(row) == ("bob", "asked for run 2 of t: what has failed for http_500 again")


def test_what_has_failed_waits_while_a_run_of_the_job_is_not_over(database, steering, run):
    with pytest.raises(StateError, match="goes on or waits"):
        steering.retry_failed(run, "bob")

    Runs(database).end(run, "finished", 0, 4.0)
    steering.do("resume", Runs(database).find(run.id), "anna")
    with pytest.raises(StateError, match="goes on or waits"):
        steering.retry_failed(run, "bob")


@pytest.mark.parametrize("reason", ["--fresh", "HTTP_500", "a b", "a,b", "x" * 101, "é"])
def test_a_reason_is_a_word(database, steering, run, reason):
    Runs(database).end(run, "finished", 0, 4.0)

    with pytest.raises(ValueError, match="such as http_500"):
        steering.retry_failed(run, "bob", reason)
    assert Runs(database).active() == []


def test_only_the_job_of_a_run_that_is_over_starts_over(database, steering, run):
    with pytest.raises(StateError, match="goes on or waits"):
        steering.afresh(run, "bob")
    Runs(database).end(run, "finished", 0, 4.0)
    steering.afresh(run, "bob")

    [again] = Runs(database).active()
    assert (again.job, again.start) == (run.job, "fresh")
    row = database.rows("SELECT who, what FROM audit")[-1]
    assert tuple(row) == ("bob", "asked for run 2 of t: its job starts over")


def test_a_run_that_continues_does_not_start_over_again(database, steering, run):
    Runs(database).end(run, "finished", 0, 4.0)
    fresh = Runs(database).find(steering.afresh(run, "bob"))
    Runs(database).end(fresh, "stopped", 3, 5.0)

    over = Runs(database).find(fresh.id)
    again = Runs(database).find(steering.do("resume", over, "bob"))

    assert (again.job, again.start) == (run.job, "")


def test_only_a_run_that_goes_on_has_delays(database, steering, run):
    with pytest.raises(StateError, match="goes on"):
        steering.set_delay(run, "bob", "a.test", "2")
    Runs(database).begin(run, 2.0)
    running = Runs(database).find(run.id)
    with pytest.raises(ValueError, match="not a host"):
        steering.set_delay(running, "bob", "<img>", "2")
    rows = database.rows("SELECT what FROM audit WHERE what LIKE '%delay%'")
    assert rows == []

    with pytest.raises(StateError, match="does not answer"):
        steering.set_delay(running, "bob", "A.test", "2.5")

    row = database.rows("SELECT who, what FROM audit")[-1]
    assert tuple(row) == ("bob", "asked to set the delay of a.test to 2.5 s in t #1")
