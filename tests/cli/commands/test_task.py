"""`crawler task run`, against a real portal in another process."""

import json
import re
import subprocess
import time

import gevent
import pytest

from crawler.portal.store.database import Database
from crawler.portal.store.tasks import Task, Tasks
from crawler.portal.store.tokens import Tokens
from crawler.portal.store.users import Users

from ..conftest import CRAWLER, crawler


@pytest.fixture
def portal(tmp_path):
    """A portal with a task, as a user starts it; yield its URL and a token."""
    (tmp_path / "portal").mkdir()
    database = Database(tmp_path / "portal/portal.db")
    admin = Users(database).add("admin", "a long password", "admin")
    token = Tokens(database).add(admin, "test", "run", days=1, now=time.time())
    # Nobody listens on the port, so the only page fails, and the gate is not met.
    task = Task(
        "closed",
        urls=("http://127.0.0.1:9/",),
        settings={"robots": "false", "retries": "1"},
        gates=("done<1",),
    )
    Tasks(database).save(task, now=time.time(), who="admin")
    database.close()
    process = subprocess.Popen(
        [*CRAWLER, "portal", "--port", "0"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    with gevent.Timeout(120):
        url = re.search(r"http://[^\s]+", process.stderr.readline())[0]
    yield url, token
    process.terminate()
    process.communicate(timeout=120)


def test_a_task_is_run_and_its_exit_code_is_that_of_the_run(portal, tmp_path, monkeypatch):
    url, token = portal
    monkeypatch.setenv("CRAWLER_PORTAL_TOKEN", token)

    done = crawler("task", "run", "closed", "--portal", url, "--wait", "--json", cwd=tmp_path)

    answer = json.loads(done.stdout)
    assert (answer["task"], answer["state"]) == ("closed", "failed")
    assert done.returncode == answer["exit"] > 1
    assert answer["url"] == f"{url}runs/1/"
    assert "closed #1: failed" in done.stderr

    other = crawler("task", "run", "other", "--portal", url, cwd=tmp_path)
    assert (other.returncode, "no task 'other'" in other.stderr) == (2, True)
    monkeypatch.setenv("CRAWLER_PORTAL_TOKEN", "wrong")
    assert "The token is wrong" in crawler("task", "run", "x", "--portal", url, cwd=tmp_path).stderr


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv("CRAWLER_PORTAL_TOKEN", raising=False)
    assert "CRAWLER_PORTAL_TOKEN is not set" in crawler("task", "run", "x", cwd=tmp_path).stderr

    monkeypatch.setenv("CRAWLER_PORTAL_TOKEN", "x")
    for url, words in (
        ("ftp://x/", "is not the URL of a portal"),
        ("http://127.0.0.1:9/", "no answer"),
    ):
        done = crawler("task", "run", "x", "--portal", url, cwd=tmp_path)
        assert words in done.stderr
        assert done.returncode != 0
