"""What a portal answers while its store cannot be changed."""

import json
import sqlite3

import pytest

from crawler.portal.store.database import Database

FORM = {"name": "t", "urls": "http://127.0.0.1:9/", "enabled": "yes"}


@pytest.fixture
def locked(portal, admin, monkeypatch):
    """Let another program hold the store."""
    monkeypatch.setattr("crawler.portal.store.database._PATIENCE", 0.1)
    other = Database(portal.path / "portal.db")
    with other.transaction():
        yield
    other.close()


@pytest.fixture
def full(portal, admin):
    """Let the disk have no room for more, as far as the store is concerned."""
    pages = portal._database.row("PRAGMA page_count")[0]
    portal._database.rows(f"PRAGMA max_page_count = {pages}")
    for length in (3000, 300, 1):
        with pytest.raises(sqlite3.OperationalError, match="full"):
            while True:
                portal._database.audit(0.0, "test", "x" * length)


def counts(portal):
    return [
        len(portal._database.rows(f"SELECT * FROM {name}")) for name in ("task", "run", "audit")
    ]


@pytest.mark.parametrize(("fault", "reason"), [("locked", "locked it"), ("full", "disk is full")])
def test_pages_can_be_read_and_changes_are_refused_with_the_reason(
    portal, admin, task, program, request, fault, reason
):
    program("tasks")
    request.getfixturevalue(fault)
    # A read notes when its session and its token were used last.
    portal._database.touch("UPDATE session SET seen = seen - 61")
    before = counts(portal)

    assert admin.ask("/").status == 200
    assert program("tasks").status == 200
    page = admin.post("/tasks/new", FORM | {"note": "x" * 9000})
    answer = program(f"tasks/{task}/run", "POST")

    assert (page.status, reason in page.text) == (503, True)
    assert (answer.status, reason in json.loads(answer.text)["detail"]) == (503, True)
    assert counts(portal) == before
