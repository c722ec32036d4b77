"""`crawler portal` in a process of its own."""

import json
import os
import re
import signal
import subprocess
import time
import venv
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import gevent
import pytest
from click.testing import CliRunner

from crawler.cli.commands.portal import portal
from crawler.portal.store.database import Database
from crawler.portal.store.tasks import Task, Tasks
from crawler.portal.store.tokens import Tokens
from crawler.portal.store.users import Users
from crawler.testing import LoopbackSite

from ..conftest import CRAWLER, crawler

ROOT = Path(__file__).parents[3]


def start(path):
    """Start a portal in the directory *path*; return its process and its URL."""
    process = subprocess.Popen(
        [*CRAWLER, "portal", "--port", "0"], cwd=path, stderr=subprocess.PIPE, text=True
    )
    with gevent.Timeout(120):
        line = process.stderr.readline()
    assert re.match(r"portal: http://127\.0\.0\.1:\d+/$", line)
    return process, line.split()[-1]


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


class Checker:
    """Reads the events of a run, also after the portal was killed, and checks each of them."""

    def __init__(self, url, token, run):
        self.url, self._token, self._run = url, token, run
        self.states = []
        self._reading = gevent.spawn(self._read)

    def _read(self):
        while not self.states or self.states[-1] in ("queued", "starting", "running"):
            try:
                self._follow()
            except (OSError, HTTPException):
                gevent.sleep(0.05)

    def _follow(self):
        parts = urlsplit(self.url)
        connection = HTTPConnection(parts.hostname, parts.port, timeout=120)
        try:
            route = f"/api/v1/events?topics=run:{self._run}"
            connection.request("GET", route, headers={"Authorization": f"Bearer {self._token}"})
            for line in connection.getresponse():
                if line.startswith(b'data: {"topic'):
                    self._check(json.loads(line[6:])["value"])
        finally:
            connection.close()

    def _check(self, value):
        queue = value["queue"]
        sums = sum(queue[name] for name in ("success", "failed", "refused", "left"))
        assert queue["total"] == sums, queue
        assert min(queue.values()) >= 0
        if value["state"] not in self.states[-1:]:
            self.states.append(value["state"])

    def end(self):
        self._reading.get(timeout=120)
        return self.states


def prepare(path, held):
    """Give a new portal a user and a task; return a token for it."""
    database = Database(path / "portal/portal.db")
    admin = Users(database).add("admin", "a long password", "admin")
    token = Tokens(database).add(admin, "test", "run", days=1, now=time.time())
    settings = {"delay": "0", "robots": "false", "depth": "9", "timeout": "300"}
    task = Task("held", urls=(held.url("/0"),), settings=settings)
    Tasks(database).save(task, now=time.time(), who="admin")
    database.close()
    return token


def test_what_events_say_is_true_while_the_portal_and_a_run_are_killed(held, tmp_path):
    process, url = start(tmp_path)
    with gevent.Timeout(120):
        link = process.stderr.readline()
    assert re.search(rf"15 minutes: {url}setup/[\w-]{{43}}$", link)
    token = prepare(tmp_path, held)
    answer(url, token, "tasks/1/run", "POST")
    first = Checker(url, token, 1)
    wait_for(url, token, "runs/1/figures", lambda found: found["queue"]["success"] > 0)

    process.kill()
    process.communicate(timeout=120)
    process, first.url = start(tmp_path)
    url = first.url
    wait_for(url, token, "runs/1/figures", lambda found: found["state"] == "running")
    assert answer(url, token, "runs/1")["state"] == "running"

    with gevent.Timeout(120):
        while first.states[-1:] != ["running"]:
            gevent.sleep(0.05)
    os.kill(int((tmp_path / "portal/runs/1/pid").read_text()), signal.SIGKILL)
    assert first.end()[-2:] == ["running", "lost"]
    second = Checker(url, token, 2)  # the portal continues the job by itself
    held.release.set()
    ended = wait_for(url, token, "runs/2", lambda found: found["state"] in ENDED)
    assert (ended["state"], ended["exit"], ended["job"]) == ("finished", 0, 1)
    assert second.end()[-1] == "finished"
    queue = answer(url, token, "runs/2/figures")["queue"]
    assert (queue["left"], queue["success"]) == (0, queue["total"])
    lines = (tmp_path / "portal/runs/1/items.jsonl").read_text().splitlines()
    assert len(lines) == queue["total"]
    os.kill(process.pid, signal.SIGINT)
    process.communicate(timeout=120)
    assert process.returncode == 0


ENDED = ("finished", "failed", "stopped", "lost")


def test_a_port_in_use_is_a_usage_error(held, tmp_path):
    done = crawler("portal", "--port", str(held.port), cwd=tmp_path)

    assert done.returncode == 2
    assert f"cannot use port {held.port}" in done.stderr


def test_a_portal_that_others_reach_must_be_protected(tmp_path):
    (tmp_path / "wrong.pem").write_text("no certificate")
    wrong = ["--tls-cert", str(tmp_path / "wrong.pem"), "--dir", str(tmp_path / "portal")]

    for words, options in {
        "needs --tls-cert, or --behind-proxy": ["--address", "0.0.0.0"],
        "cannot start: ": wrong,
    }.items():
        done = CliRunner().invoke(portal, options)
        assert done.exit_code == 2
        assert words in done.output


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_from_a_fresh_environment_to_a_scheduled_run_in_two_commands(tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    commands = [
        [tmp_path / "venv/bin/pip", "install", "--quiet", f"{ROOT}[portal]"],
        [tmp_path / "venv/bin/crawler", "portal", "--port", "0"],
    ]
    subprocess.run(commands[0], check=True, timeout=600, cwd=tmp_path)
    process = subprocess.Popen(commands[1], stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    with LoopbackSite({"/": "<title>Home</title>"}) as site, gevent.Timeout(240):
        url, first = (process.stderr.readline().split()[-1] for _ in range(2))
        cookie = post(first, {"name": "anna", "password": "a long password"}, "")
        page = send("GET", url, None, cookie)[1]
        csrf = page.partition('name="csrf" value="')[2].partition('"')[0]
        task = {"name": "home", "urls": site.url(), "cron": "* * * * *", "enabled": "yes"}
        post(f"{url}tasks/new", task | {"csrf": csrf}, cookie)
        while not list(tmp_path.glob("portal/runs/1/exit")):
            gevent.sleep(0.2)
    code = (tmp_path / "portal/runs/1/exit").read_text()
    process.terminate()
    process.communicate(timeout=120)

    assert code == "0\n"
    assert (tmp_path / "portal/runs/1/items.jsonl").read_text().count("Home") == 1


def post(url, form, cookie):
    """Send a form; return the cookie of the session that it has begun, if any."""
    answer, text = send("POST", url, urlencode(form), cookie)
    assert answer.status == 303, text
    return (answer.headers["Set-Cookie"] or "").partition(";")[0]


def send(method, url, body, cookie):
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname, parts.port, timeout=120)
    kind = "application/x-www-form-urlencoded"
    connection.request(method, parts.path, body, {"Content-Type": kind, "Cookie": cookie})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer, text
