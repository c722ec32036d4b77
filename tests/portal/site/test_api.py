import json

import pytest
from pydantic import TypeAdapter

from crawler.portal.store.runs import Runs
from crawler.portal.store.tasks import Task, Tasks
from crawler.portal.store.tokens import Tokens

from .conftest import Client


@pytest.fixture
def task(portal):
    portal.runner._start_queued = lambda: None
    return Tasks(portal._database).save(
        Task("quotes", urls=("http://127.0.0.1:9/",), cron="30 2 * * *"), now=0, who="x"
    )


@pytest.fixture
def program(portal, users):
    """Return a function that sends a request as a program does, with a token of a scope."""
    everybody = {user.name: user for user in portal._visitors.users.all()}
    tokens = Tokens(portal._database)

    def ask(route, method="GET", scope="run", **headers):
        if scope not in made:
            made[scope] = tokens.add(everybody["admin"], scope, scope, days=1, now=portal_time())
        return Client(portal).ask(
            f"/api/v1/{route}", method, Authorization=f"Bearer {made[scope]}", **headers
        )

    made = {}
    return ask


def portal_time():
    from time import time

    return time()


def value(answer):
    assert answer.headers["Content-Type"] == "application/json", answer.text
    return json.loads(answer.text)


def test_a_program_runs_a_task_once(portal, task, program):
    [found] = value(program("tasks?name=quotes"))["tasks"]
    assert len(found["next"]) == 5
    assert value(program("tasks?name=other"))["tasks"] == []

    once = [
        value(program(f"tasks/{task}/run", "POST", **{"Idempotency-Key": "k"}))["id"]
        for _ in range(3)
    ]
    other = value(program(f"tasks/{task}/run", "POST", **{"Idempotency-Key": "l"}))["id"]

    assert once == [1, 1, 1]
    assert other == 2
    assert len(Runs(portal._database).active()) == 2


def test_runs_come_in_pages(task, program):
    for _ in range(5):
        program(f"tasks/{task}/run", "POST")

    first = value(program("runs?most=2"))
    second = value(program(f"runs?most=3&before={first['before']}&task={task}"))

    assert [run["number"] for run in first["runs"]] == [5, 4]
    assert [run["number"] for run in second["runs"]] == [3, 2, 1]
    assert value(program("runs?task=99")) == {"runs": [], "before": 0}


def test_runs_are_steered(portal, task, program):
    program(f"tasks/{task}/run", "POST")

    assert program("runs/1/pause", "POST").status == 409  # it waits, so nobody answers
    assert value(program("runs/1/stop", "POST"))["state"] == "stopped"
    assert program("runs/1/stop", "POST").status == 409
    assert program("runs/1/restart", "POST").status == 409
    again = value(program("runs/1/resume", "POST"))
    assert (again["id"], again["job"], again["state"]) == (2, 1, "queued")

    done = [row["what"] for row in portal._database.rows("SELECT what FROM audit")]
    assert "asked to stop quotes #1" in done


def test_a_scope_is_the_most_that_a_token_may_do(portal, task, program):
    assert program("tasks", scope="read").status == 200
    assert program(f"tasks/{task}/run", "POST", scope="read").status == 403
    assert Runs(portal._database).last() == []


def test_a_token_is_for_the_api_only(portal, users, program):
    program("tasks")
    token = Tokens(portal._database).add(
        portal._visitors.users.all()[0], "x", "run", days=1, now=portal_time()
    )
    client = Client(portal)

    assert client.ask("/", Authorization=f"Bearer {token}").headers["Location"] == "/login"
    assert client.ask("/api/v1/tasks", Authorization="Bearer wrong").status == 401
    assert client.ask("/api/v1/tasks", Authorization=f"Basic {token}").status == 401


def test_problems_are_json_too(program, stranger):
    for answer, status in (
        (program("runs/99"), 404),
        (program("nothing"), 404),
        (stranger.ask("/api/v1/tasks"), 401),
        (program("tasks/1/run", "POST", **{"Idempotency-Key": "x" * 999}), 400),
    ):
        assert answer.status == status
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert json.loads(answer.text)["status"] == status


def test_a_session_needs_its_secret_for_changes(task, operator, portal):
    route, csrf = f"/api/v1/tasks/{task}/run", operator.csrf
    operator.csrf = ""
    assert operator.post(route).status == 403
    assert operator.post(route, **{"X-CSRF-Token": csrf}).status == 200
    assert len(Runs(portal._database).last()) == 1


def test_the_description_names_every_route_and_answers_are_as_it_says(portal, task, program):
    program(f"tasks/{task}/run", "POST")
    described = value(program("openapi.json"))
    rules = {
        (rule.rule.replace("<int:", "{").replace(">", "}"), rule.endpoint.partition(" ")[0].lower())
        for rule in portal._server.application.url_map.iter_rules()
        if rule.rule.startswith("/api/")
    }

    assert described["openapi"].startswith("3.1")
    assert rules == {(path, name) for path, each in described["paths"].items() for name in each}
    from crawler.portal.site import answers

    for route, kind in (
        ("tasks", answers.TasksAnswer),
        (f"tasks/{task}", answers.TaskAnswer),
        ("runs", answers.RunsAnswer),
        ("runs/1", answers.RunAnswer),
        ("runs/1/logs", answers.LogAnswer),
    ):
        TypeAdapter(kind).validate_json(program(route).text)
