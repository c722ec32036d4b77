"""Who may see and do what: every route of the portal."""

from dataclasses import replace
from urllib.parse import quote

import gevent
import pytest

from crawler.portal.site.visitor import PUBLIC
from crawler.portal.store.projects import Project
from crawler.portal.store.runs import Runs
from crawler.portal.store.tasks import Task, Tasks

from ..conftest import HOSTILE, OVERRIDE
from ..projects.conftest import SPIDER, Repository
from .conftest import Client

TASK = {
    "name": "t",
    "urls": "http://127.0.0.1:9/",
    "output": "items.jsonl",
    "zone": "UTC",
    "overlap": "skip",
    "misfire": "once",
    "enabled": "yes",
}
RANK = ["viewer", "operator", "admin"]


def routes(portal):
    """Yield method, path and role of every route, with 1 for each number."""
    app = portal._server.application
    for rule in app.url_map.iter_rules():
        method, _, _ = rule.endpoint.partition(" ")
        path = rule.rule.replace("<int:run>", "1").replace("<int:task>", "1")
        path = path.replace("<int:user>", "99").replace("<int:token>", "99")
        path = path.replace("<int:project>", "99").replace("<int:version>", "99")
        path = path.replace("<int:alarm>", "99").replace("/hooks/<name>", "/hooks/nobody")
        path = path.replace("<name>", "style.css").replace("<job>", "job")
        yield method, path.replace("<secret>", "wrong"), portal._visitors.roles[rule.endpoint]


def counts(portal):
    tables = ("user", "task", "run", "token", "project", "version", "delivery")
    return [len(portal._database.rows(f"SELECT * FROM {table}")) for table in tables]


def test_nobody_sees_or_does_anything_without_a_session(portal, users, stranger):
    before = counts(portal)

    for method, path, role in routes(portal):
        answer = stranger.ask(path, method, TASK)
        if path.startswith(("/files/", "/login")):
            continue
        is_program = method != "GET" or path.startswith(("/api/", "/metrics"))
        allowed = (
            {403} if path.startswith(("/setup", "/hooks/")) else {401} if is_program else {303}
        )
        assert answer.status in allowed, (method, path)
        if not is_program and role != PUBLIC:
            assert answer.headers["Location"] == "/login"

    assert counts(portal) == before


def test_a_role_reaches_only_its_pages(portal, viewer, operator, admin):
    for method, path, role in routes(portal):
        if role == PUBLIC or path == "/logout" or path.endswith("/events"):
            continue
        for who, client in zip(RANK, (viewer, operator, admin), strict=True):
            answer = client.ask(path, method, {"name": "!"})
            is_too_high = RANK.index(role) > RANK.index(who)
            assert (answer.status == 403) == is_too_high, (who, method, path)


def test_a_change_needs_the_token_of_its_session(portal, admin):
    for form in ({"csrf": ""}, {"csrf": "x" * 43}):
        assert admin.post("/tasks/new", TASK | form).status == 403

    assert counts(portal)[1] == 0
    assert admin.post("/tasks/new", TASK).status == 303


def test_a_page_of_another_site_cannot_change_anything(portal, admin):
    for headers in ({"Origin": "http://evil.test"}, {"Sec-Fetch-Site": "cross-site"}):
        assert admin.post("/tasks/new", TASK, **headers).status == 403
        assert admin.post("/login", {"name": "admin"}, **headers).status == 403

    assert counts(portal)[1] == 0


def test_reading_changes_nothing(portal, admin):
    admin.post("/tasks/new", TASK)
    before = counts(portal)

    for method, path, _ in routes(portal):
        if method == "POST" and path != "/logout":
            assert admin.ask(path).status in {200, 403, 404, 405}, path

    assert counts(portal) == before


def test_a_foreign_name_of_this_machine_is_refused(admin, stranger):
    assert admin.ask("/", Host="evil.test").status == 403
    assert stranger.ask("/login", Host="evil.test").status == 403


def test_there_is_no_default_password(portal, stranger):
    for name in ("admin", "root", "portal"):
        for password in ("", "admin", name, "password"):
            answer = stranger.post("/login", {"name": name, "password": password})
            assert answer.status == 401


def test_the_link_of_the_first_start_works_once(portal, stranger):
    link = portal.first_url.removeprefix(portal.url.rstrip("/"))
    assert stranger.ask("/").headers["Location"] == "/login"
    assert "printed" in stranger.ask("/login").text
    assert stranger.post(link, {"name": "anna", "password": "short"}).status == 200

    assert stranger.post(link, {"name": "anna", "password": "a long password"}).status == 303

    assert portal.first_url == ""
    assert stranger.ask(link).status == 403
    assert stranger.post(link, {"name": "eve", "password": "a long password"}).status == 403
    assert "anna (admin)" in stranger.ask("/").text


def test_the_link_of_the_first_start_ends(portal, stranger):
    link = portal.first_url.removeprefix(portal.url.rstrip("/"))
    portal._visitors._setup_ends = 0.0

    assert stranger.ask(link).status == 403


def test_the_cookie_is_new_and_for_the_server_only(portal, users, stranger):
    stranger.cookie = "crawler_portal=chosen-by-an-attacker"

    answer = stranger.post("/login", {"name": "admin", "password": "a long password"})

    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "chosen-by-an-attacker" not in cookie


#: What is sent to each route that changes something, in an order in which all of them can be done.
PROJECT = {"name": "new", "url": "https://git.example.org/x.git", "pattern": "v{version}"}
CHANGES = {
    "/users": {"name": "bob", "password": "a long password", "role": "viewer"},
    "/users/4/remove": {},
    "/tasks/new": TASK,
    "/tasks/1/edit": TASK | {"name": "quotes", "note": "changed"},
    "/tasks/1/run": {},
    "/runs/1/stop": {},
    "/runs/1/resume": {},
    "/runs/2/stop": {},
    "/runs/1/retry-failed": {"reason": "timeout"},
    "/runs/3/stop": {},
    "/runs/1/afresh": {"sure": "yes"},
    "/tokens": {"name": "ci", "scope": "run", "days": "1"},
    "/tokens/1/remove": {},
    "/sessions/end": {},
    "/projects": PROJECT,
    "/projects/1/tags": {},
    "/projects/1/rotate": {},
    "/projects/1/grants": {"grants": "viewer"},
    "/versions/1/retry": {},
    "/projects/1/remove": {},
    "/alarms/1/seen": {},
}
#: They steer a process or a cluster, or are of the session that asks.
OTHERS = (
    "/pause",
    "/delay",
    "/restart",
    "/login",
    "/logout",
    "/setup",
    "/hooks/",
    "/cluster/",
    "/api/",
)


def test_the_list_of_changes_is_whole(portal):
    rules = {path.replace("99", "1") for method, path, _ in routes(portal) if method != "GET"}

    missing = rules - {path.replace("4", "1") for path in CHANGES}

    assert {path for path in missing if not any(word in path for word in OTHERS)} == set()


@pytest.fixture
def shop(portal, admin, tmp_path):
    """A project with a version that has failed and a tag that has none, and an alarm."""
    portal.builds.step = lambda: None
    repository = Repository(tmp_path)
    repository.tag("v2.0", {"shop.py": SPIDER})
    given = Project(0, "shop", repository.url, "", "", "v{version}")
    shop = portal.builds.projects.find(portal.builds.projects.add(given, "", now=1, who="x"))
    portal.builds.versions.ask(shop, "1.0", "v1.0", "c", 1)
    portal.builds.versions.set_state(1, "failed")
    portal.builds.alarms.add("shop 1.0", "has moved", 1)


def content(portal):
    tables = ("user", "task", "run", "token", "project", "version", "alarm", "delivery", "fire")
    found = {name: portal._database.rows(f"SELECT * FROM {name}") for name in tables}
    cookies = portal._database.rows("SELECT hash FROM session ORDER BY hash")
    return {name: [tuple(row) for row in rows] for name, rows in found.items()}, len(cookies)


def test_no_change_is_made_without_its_row_in_the_audit(portal, task, shop, admin):
    forbid = "BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no audit'); END"

    for path, form in CHANGES.items():
        if path == "/sessions/end":
            Client(portal).sign_in("admin")
        before, rows = content(portal), len(portal._database.rows("SELECT * FROM audit"))
        portal._database.change(f"CREATE TRIGGER no_audit {forbid}")
        assert admin.post(path, form).status == 500, path
        assert content(portal) == before, path

        portal._database.change("DROP TRIGGER no_audit")
        assert admin.post(path, form).status in {200, 303}, path
        assert content(portal) != before, path
        *_, last = portal._database.rows("SELECT who FROM audit")
        assert (len(portal._database.rows("SELECT * FROM audit")) > rows, last[0]) == (
            True,
            "admin",
        )


def test_it_listens_on_this_machine_only(portal):
    assert portal._server.address[0] == "127.0.0.1"


def test_signing_out_ends_the_session(admin):
    cookie = admin.cookie
    assert admin.post("/logout").status == 303

    admin.cookie = cookie
    assert admin.ask("/").status == 303


def test_every_answer_has_the_same_policy(admin, stranger):
    for answer in (admin.ask("/"), stranger.ask("/login"), stranger.ask("/nothing")):
        assert "unsafe" not in answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


EVIL = """
from crawler import Spider

class Evil(Spider):
    name = "evil"
    start_urls = [{url!r}, {url!r} + "bad"]

    def parse(self, response):
        self.logger.warning("title %s", response.title)
        yield {{"title": response.title, response.title: 1}}
        yield from response.links()
        if "bad" in response.url:
            raise ValueError(response.text)
"""


@pytest.fixture
def evil(portal, site, admin, shop):
    """A portal in which every text that may be hostile is."""
    text = f"{HOSTILE}{OVERRIDE}"  # of a site or a repository; names that users give have no U+202E
    site.release.set()
    (portal.spiders / "evil.py").write_text(EVIL.format(url=site.url()))
    settings = {"delay": "0", "robots": "false", "retries": "1"}
    own = Task("evil", spider="evil.py:Evil", settings=settings)
    tasks, runs = Tasks(portal._database), Runs(portal._database)
    number = tasks.save(own, now=0, who=HOSTILE)
    runs.ask(tasks.find(number), now=0, who=HOSTILE)
    with gevent.Timeout(120):
        while runs.find(1).is_active:
            gevent.sleep(0.05)
    assert runs.find(1).state == "finished"
    own = replace(own, id=number, name=HOSTILE, arguments={HOSTILE: HOSTILE}, note=HOSTILE)
    tasks.save(own, now=0, who="x")
    portal._database.change("UPDATE user SET name = ? WHERE name = 'viewer'", HOSTILE)
    portal._database.change("UPDATE version SET tag = ?, commit_id = ?, reason = ?", *[text] * 3)
    portal._database.change("UPDATE project SET url = ?, user = ?, known_hosts = ?", *[text] * 3)
    portal._database.change("INSERT INTO delivery VALUES (1, ?, ?, 1, ?)", *[text] * 3)
    portal.builds.alarms.add(text, text, 1.0)
    build = portal.builds.path(portal.builds.versions.find(1))
    build.mkdir(parents=True)
    (build / "build.log").write_text(text)
    admin.post("/tokens", {"name": "ci", "scope": "run", "days": "1"})
    portal._database.change("UPDATE token SET name = ?", HOSTILE)
    return portal


def test_hostile_text_is_text_on_every_page(evil, admin, site):
    word, shown = quote(HOSTILE), set()
    paths = {path.replace("99", "1") for method, path, _ in routes(evil) if method == "GET"}
    asked = {f"/?name={word}", f"/runs?state={word}", f"/runs/1/log?words={word}", f"/{word}"}
    why = {f"/runs/1/why?url={quote(site.url())}", f"/runs/1/why?url={word}", "/compare?a=1&b=1"}

    for path in sorted(paths | asked | why):
        answer = admin.ask(path)
        is_page = answer.headers["Content-Type"].startswith(("text/html", "text/event-stream"))
        assert not is_page or "<img" not in answer.text, path
        assert not is_page or "<script>" not in answer.text, path
        assert not is_page or OVERRIDE not in answer.text, path
        assert is_page or answer.headers["X-Content-Type-Options"] == "nosniff", path
        shown |= {path} if "&lt;script" in answer.text else set()

    pages = {
        "/",
        "/runs",
        "/runs/1/",
        "/runs/1/log",
        "/runs/1/urls",
        "/tasks/1/",
        "/tasks/1/edit",
        "/projects",
    }
    assert pages | {"/projects/1/", "/versions/1/", "/users", "/tokens", *why} <= shown
