"""`crawler portal` in a process of its own."""

import json
import os
import re
import signal
import subprocess
import time
from http.client import HTTPConnection
from urllib.parse import urlsplit

import gevent

from crawler.portal.store.database import Database
from crawler.portal.store.tasks import Task, Tasks
from crawler.portal.store.tokens import Tokens
from crawler.portal.store.users import Users

from ..conftest import CRAWLER, crawler


def test_it_prints_a_one_time_link_and_ends_at_ctrl_c(tmp_path):
    process = subprocess.Popen(
        [*CRAWLER, "portal", "--port", "0"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    with gevent.Timeout(120):
        lines = [process.stderr.readline() for _ in range(2)]

    assert re.match(r"portal: http://127\.0\.0\.1:\d+/$", lines[0])
    assert re.search(r"15 minutes: http://127\.0\.0\.1:\d+/setup/[\w-]{43}$", lines[1])
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(timeout=120) == 0


def start(path):
    """Start a portal in the directory *path*; return its process and its URL."""
    process = subprocess.Popen(
        [*CRAWLER, "portal", "--port", "0"], cwd=path, stderr=subprocess.PIPE, text=True
    )
    with gevent.Timeout(120):
        return process, process.stderr.readline().split()[-1]


def answer(url, token, route, method="GET"):
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname, parts.port, timeout=120)
    connection.request(method, f"/api/v1/{route}", headers={"Authorization": f"Bearer {token}"})
    with connection.getresponse() as response:
        found = json.loads(response.read())
    connection.close()
    return found


def wait_for(url, token, route, is_right):
    with gevent.Timeout(120):
        while not is_right(found := answer(url, token, route)):
            gevent.sleep(0.1)
    return found


def test_a_run_goes_on_while_the_portal_is_dead_and_is_known_again(held, tmp_path):
    (tmp_path / "portal").mkdir()
    database = Database(tmp_path / "portal/portal.db")
    admin = Users(database).add("admin", "a long password", "admin")
    token = Tokens(database).add(admin, "test", "run", days=1, now=time.time())
    settings = {"delay": "0", "robots": "false", "depth": "9", "timeout": "300"}
    task = Task("held", urls=(held.url("/0"),), settings=settings)
    Tasks(database).save(task, now=time.time(), who="admin")
    database.close()
    process, url = start(tmp_path)
    answer(url, token, "tasks/1/run", "POST")
    wait_for(url, token, "runs/1/figures", lambda found: found["queue"]["success"] > 0)

    process.kill()
    process.communicate(timeout=120)
    process, url = start(tmp_path)

    found = wait_for(url, token, "runs/1/figures", lambda found: found["state"] == "running")
    queue = found["queue"]
    parts = ("success", "failed", "refused", "left")
    assert queue["total"] == sum(queue[name] for name in parts)
    assert answer(url, token, "runs/1")["state"] == "running"
    held.release.set()
    ended = wait_for(url, token, "runs/1", lambda found: found["state"] != "running")
    assert (ended["state"], ended["exit"]) == ("finished", 0)
    process.terminate()
    process.communicate(timeout=120)


def test_a_port_in_use_is_a_usage_error(held, tmp_path):
    done = crawler("portal", "--port", str(held.port), cwd=tmp_path)

    assert done.returncode == 2
    assert f"cannot use port {held.port}" in done.stderr
