"""What is not there, or not for the user, is named in the answer as not there."""

import json
from time import time
from types import SimpleNamespace

import pytest

from crawler.portal.store.projects import Project
from crawler.portal.store.runs import Runs
from crawler.portal.store.tasks import Task, Tasks

from .conftest import value


def test_what_was_asked_for_is_named(admin):
    for kind in ("run", "task", "project", "version"):
        answer = admin.ask(f"/{kind}s/17/")
        assert answer.status == 404
        assert f"There is no {kind} 17." in answer.text

    for route, kind in (("runs/17/logs", "run"), ("tasks/17", "task"), ("builds/17", "version")):
        answer = admin.ask(f"/api/v1/{route}")
        assert answer.status == 404
        assert json.loads(answer.text)["detail"] == f"There is no {kind} 17."

    assert "There is no run 17." in admin.ask("/compare?a=17&b=18").text


@pytest.fixture
def shop(portal, task):
    """A project for nobody but admins yet, with a version, a task, a run and an alarm."""
    given = Project(0, "shop", "https://git.test/shop", "", "", "v{version}", ("admin",))
    number = portal.builds.projects.add(given, "", now=1, who="admin")
    found = portal.builds.projects.find(number)
    portal.builds.step = lambda: None
    portal.builds.versions.ask(found, "1.0", "shop-1.0", "c", 1)
    portal.builds.versions.ask(found, "1.1", "shop-1.1", "c", 1)
    portal.builds.versions.set_ready(1, "d", ["shop.py:Shop"])
    tasks = Tasks(portal._database)
    of_shop = Task("of-shop", "shop@1.0", "shop.py:Shop")
    asked = tasks.find(tasks.save(of_shop, now=1, who="admin"))
    portal.builds.alarms.add("shop 1.0", "moved", 1.0, "shop")
    run = Runs(portal._database).ask(asked, now=1, who="admin")
    return SimpleNamespace(project=number, version=1, task=asked.id, run=run, alarm=1)


LISTS = (
    "/",
    "/projects",
    "/tasks/new",
    *(f"/api/v1/{name}" for name in ("tasks", "runs", "projects", "builds")),
)


def paths_of(portal, shop):
    """Yield method and path of every route of a project, a version, a task, a run or an alarm."""
    for rule in portal._server.application.url_map.iter_rules():
        path = rule.rule
        for name, number in vars(shop).items():
            path = path.replace(f"<int:{name}>", str(number))
        if path != rule.rule:
            yield rule.endpoint.partition(" ")[0], path
    yield "GET", f"/compare?a={shop.run}&b={shop.run}"
    yield "GET", f"/api/v1/events?topics=run:{shop.run}"


def test_nobody_else_finds_what_is_of_a_project_with_grants(portal, operator, shop):
    before = portal._database.rows("SELECT * FROM run")

    for method, path in paths_of(portal, shop):
        answer = operator.ask(path, method, {"name": "!"})
        assert answer.status in {403, 404}, (method, path)
        assert answer.status == 404 or "Your role does not allow this" in answer.text
    for path in LISTS:
        assert "shop" not in operator.ask(path).text, path

    assert portal._database.rows("SELECT * FROM run") == before


def test_an_admin_grants_a_project_to_users(portal, admin, operator, viewer, shop):
    route = f"/projects/{shop.project}/grants"
    assert "there is no user eve" in admin.post(route, {"grants": "operator, eve"}).text
    assert operator.ask(f"/tasks/{shop.task}/").status == 404

    assert admin.post(route, {"grants": "operator"}).status == 303

    for path in LISTS:
        assert "shop" in operator.ask(path).text, path
    assert operator.post(f"/tasks/{shop.task}/run").status == 303
    assert viewer.ask(f"/tasks/{shop.task}/").status == 404
    assert admin.ask(f"/tasks/{shop.task}/").status == 200
    [row] = portal._database.rows("SELECT what FROM audit WHERE what LIKE 'changed project%'")
    assert row["what"] == "changed project shop: it is for operator"


def test_a_task_cannot_take_spiders_of_a_project_that_is_for_others(portal, operator, shop):
    given = {"name": "mine", "source": "shop@1.0", "spider": "shop.py:Shop"}
    for task in (given, given | {"spider": "", "urls": ["http://a.test/"]}):
        answer = operator.ask(
            "/api/v1/tasks",
            "POST",
            body=json.dumps(task),
            **{"Content-Type": "application/json", "X-CSRF-Token": operator.csrf},
        )
        assert answer.status == 422
        assert "there is no version shop@1.0" in answer.text


def test_programs_read_and_change_grants(portal, program, shop):
    one = program(f"projects/{shop.project}", scope="admin")
    given = {name: value(one)[name] for name in ("name", "url", "pattern")}
    match = {"If-Match": one.headers["ETag"]}
    route = f"projects/{shop.project}"

    wrong = program(route, "PUT", "admin", given | {"grants": ["eve"]}, **match)
    assert (wrong.status, "no user eve" in wrong.text) == (422, True)
    changed = program(route, "PUT", "admin", given | {"grants": ["viewer"]}, **match)

    assert value(changed)["grants"] == ["viewer"]


def test_metrics_are_of_runs_that_the_user_may_see(portal, admin, operator, shop):
    runs = Runs(portal._database)
    runs.begin(runs.find(shop.run), time())

    assert 'job="of-shop #1"' in admin.ask("/metrics").text
    assert "of-shop" not in operator.ask("/metrics").text
