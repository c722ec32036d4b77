import sqlite3
import subprocess
import sys

import gevent
import pytest

from crawler.portal.store import database as database_module
from crawler.portal.store.allocations import Allocation, Allocations
from crawler.portal.store.database import Database
from crawler.portal.store.runs import Runs
from crawler.portal.store.tasks import Task, Tasks


def test_the_file_is_for_its_owner_only(database, tmp_path):
    assert (tmp_path / "portal.db").stat().st_mode & 0o777 == 0o600


def test_a_transaction_that_fails_changes_nothing(database):
    with pytest.raises(RuntimeError), database.transaction():
        database.audit(1.0, "a", "b")
        raise RuntimeError

    assert database.rows("SELECT * FROM audit") == []


def test_it_can_be_opened_again(database, tmp_path):
    database.audit(1.0, "a", "b")

    again = Database(tmp_path / "portal.db")

    assert [tuple(row) for row in again.rows("SELECT * FROM audit")] == [(1.0, "a", "b")]
    again.close()


def test_a_change_waits_for_another_program_and_lets_others_have_their_turns(database, tmp_path):
    other = Database(tmp_path / "portal.db")
    with other.transaction():
        waiting = gevent.spawn(database.audit, 1.0, "a", "b")
        gevent.sleep(0.05)
        assert not waiting.ready()
        assert database.rows("SELECT * FROM audit") == []
    waiting.get(timeout=120)

    assert len(other.rows("SELECT * FROM audit")) == 1
    other.close()


def test_a_disk_that_is_full_ends_a_transaction_whole(database):
    pages = database.row("PRAGMA page_count")[0]
    database.rows(f"PRAGMA max_page_count = {pages + 1}")

    with pytest.raises(sqlite3.OperationalError, match="full"), database.transaction():
        database.audit(1.0, "a", "b")
        database.audit(1.0, "a", "x" * 65536)

    assert database.rows("SELECT * FROM audit") == []
    database.audit(2.0, "a", "c")


@pytest.fixture
def old(tmp_path, monkeypatch):
    """Return a function that makes the store as a version had left it, with a task and its run."""

    def make(version):
        with monkeypatch.context() as before:
            before.setattr(database_module, "_MIGRATIONS", database_module._MIGRATIONS[:version])
            store = Database(tmp_path / "old.db")
        given = Task("t", urls=("http://a.test/",)).to_json()
        store.change("INSERT INTO task (name, spec, enabled, checked) VALUES ('t', ?, 1, 0)", given)
        store.change(
            "INSERT INTO run (task, number, job, spec, state, token, asked_by, asked)"
            " VALUES (1, 1, 1, ?, 'stopped', 'x', 'anna', 1)",
            given,
        )
        store.close()
        return tmp_path / "old.db"

    return make


def test_a_store_from_before_there_were_agents_gets_their_place(old):
    store = Database(old(version=7))

    [task] = Tasks(store).all()
    Allocations(store).note(Allocation(1, "a", "asked", 1.0))

    assert (task.name, task.agents) == ("t", 0)
    assert [one.agent for one in Allocations(store).of_run(1)] == ["a"]
    assert [(run.state, run.start) for run in Runs(store).last()] == [("stopped", "")]
    store.close()


def test_portals_that_start_together_make_one_store(tmp_path):
    code = (
        "import sys; from pathlib import Path; from crawler.portal.store.database import Database\n"
    )
    code += "Database(Path(sys.argv[1])).close()"
    command = [sys.executable, "-c", code, str(tmp_path / "new.db")]

    started = [subprocess.Popen(command) for _ in range(4)]

    assert [process.wait(timeout=120) for process in started] == [0, 0, 0, 0]
