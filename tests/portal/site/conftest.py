"""A portal in this process, and clients of it."""

import json
from functools import partial
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from time import time
from types import SimpleNamespace
from urllib.parse import urlencode, urlsplit

import gevent
import pytest
from argon2 import PasswordHasher

from crawler.portal.portal_server import Portal
from crawler.portal.store.runs import Runs
from crawler.portal.store.tasks import Task, Tasks
from crawler.testing import LoopbackSite

PASSWORD = "a long password"
#: Of a task whose runs are short.
SETTINGS = {"delay": "0", "robots": "false", "depth": "3"}


class Client:
    """A browser without a screen: keeps its cookie, and sends the token of its session."""

    def __init__(self, portal):
        self._portal = portal
        self.cookie = ""
        self.csrf = ""

    def ask(self, route, method="GET", form=None, body=None, **headers):
        parts = urlsplit(self._portal.url)
        connection = HTTPConnection(parts.hostname, parts.port, timeout=120)
        headers = {"Cookie": self.cookie} | headers
        if method != "GET" and body is None:
            body = urlencode({"csrf": self.csrf} | (form or {}))
            headers |= {"Content-Type": "application/x-www-form-urlencoded"}
        try:
            connection.request(method, route, body, headers)
            answer = connection.getresponse()
            text = answer.read().decode(errors="replace")
        finally:
            connection.close()
        if given := answer.headers["Set-Cookie"]:
            self.cookie = "; ".join(f"{n}={m.value}" for n, m in SimpleCookie(given).items())
        return SimpleNamespace(status=answer.status, headers=answer.headers, text=text)

    def post(self, route, form=None, **headers):
        return self.ask(route, "POST", form, **headers)

    def sign_in(self, name):
        assert self.post("/login", {"name": name, "password": PASSWORD}).status == 303
        return self._learn()

    def _learn(self):
        page = self.ask("/").text
        self.csrf = page.partition('name="csrf" value="')[2].partition('"')[0]
        assert self.csrf
        return self


QUICK = partial(PasswordHasher, time_cost=1, memory_cost=8, parallelism=1)


@pytest.fixture
def redis_url():
    """No Redis, unless a test file has one."""
    return ""


@pytest.fixture
def portal(tmp_path, monkeypatch, redis_url):
    spiders = tmp_path / "spiders"
    spiders.mkdir()
    # What matters of passwords is tested with the store.
    monkeypatch.setattr("crawler.portal.store.users.PasswordHasher", QUICK)
    allowed = [f"file://{tmp_path}/git/"]
    portal = Portal(tmp_path / "portal", spiders, allowed_git=allowed, redis_url=redis_url)
    portal.spiders, portal.path = spiders, tmp_path / "portal"
    portal.start()
    yield portal
    for run in Runs(portal._database).active():
        portal.runner.process(run).stop()
    with gevent.Timeout(120, False):
        while any(portal.runner.process(run).is_alive for run in Runs(portal._database).active()):
            gevent.sleep(0.05)
    portal.stop()


@pytest.fixture
def users(portal):
    for role in ("viewer", "operator", "admin"):
        portal._visitors.users.add(role, PASSWORD, role)


@pytest.fixture
def stranger(portal):
    return Client(portal)


@pytest.fixture
def viewer(portal, users):
    return Client(portal).sign_in("viewer")


@pytest.fixture
def operator(portal, users):
    return Client(portal).sign_in("operator")


@pytest.fixture
def admin(portal, users):
    return Client(portal).sign_in("admin")


@pytest.fixture
def task(portal):
    """A task whose runs stay in the queue."""
    portal.runner._start_queued = lambda: None
    return Tasks(portal._database).save(
        Task("quotes", urls=("http://127.0.0.1:9/",), cron="30 2 * * *"), now=0, who="x"
    )


@pytest.fixture
def program(portal, users):
    """Return a function that sends a request as a program does, with a token of a scope."""
    everybody = {user.name: user for user in portal._visitors.users.all()}
    made = {}

    def ask(route, method="GET", scope="run", given=None, **headers):
        if scope not in made:
            made[scope] = portal._visitors.tokens.add(
                everybody["admin"], scope, scope, days=1, now=time()
            )
        if given is not None:
            headers = {"Content-Type": "application/json"} | headers
        return Client(portal).ask(
            f"/api/v1/{route}",
            method,
            body=None if given is None else json.dumps(given),
            Authorization=f"Bearer {made[scope]}",
            **headers,
        )

    return ask


def value(answer):
    assert answer.headers["Content-Type"] == "application/json", answer.text
    return json.loads(answer.text)


@pytest.fixture
def finished(portal):
    """Two runs of a task: of one site, then of one with a page less, which misses the task's gate."""
    tasks, runs = Tasks(portal._database), Runs(portal._database)
    pages = {
        "/": "<title>Home</title><a href='/a'>a</a><a href='/gone'>x</a>",
        "/a": "<title>A</title>",
    }
    with LoopbackSite(pages) as site:
        task = Task("t", urls=(site.url(),), settings=SETTINGS, gates=("done<3",))
        number = tasks.save(task, now=0, who="x")
        for _ in range(2):
            run = runs.ask(tasks.find(number), now=0, who="anna")
            wait_for(portal, run)
            site.pages = {"/": "<title>Home</title><a href='/gone'>x</a>"}
    return site


def wait_for(portal, run):
    with gevent.Timeout(120):
        while Runs(portal._database).find(run).is_active:
            gevent.sleep(0.05)
