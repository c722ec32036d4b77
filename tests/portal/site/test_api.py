import json
from time import time

from pydantic import TypeAdapter

from crawler.portal.store.runs import Runs
from crawler.portal.store.tokens import Tokens

from .conftest import Client, value


def test_a_scope_is_the_most_that_a_token_may_do(portal, task, program):
    assert program("tasks", scope="read").status == 200
    assert program(f"tasks/{task}/run", "POST", scope="read").status == 403
    assert Runs(portal._database).last() == []


def test_a_token_is_for_the_api_only(portal, users, program):
    program("tasks")
    token = Tokens(portal._database).add(
        portal._visitors.users.all()[0], "x", "run", days=1, now=time()
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
        (
            rule.rule.replace("<int:", "{").replace("<", "{").replace(">", "}"),
            rule.endpoint.partition(" ")[0].lower(),
        )
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
        ("runs/1/errors", answers.ErrorsAnswer),
        ("runs/1/records", answers.RecordsAnswer),
        ("runs/1/urls", answers.UrlsAnswer),
        ("projects", answers.ProjectsAnswer),
        ("builds", answers.VersionsAnswer),
        ("cluster", answers.ClusterAnswer),
    ):
        TypeAdapter(kind).validate_json(program(route).text)
    for route, kind in (
        ("users", answers.UsersAnswer),
        ("tokens", answers.TokensAnswer),
        ("audit", answers.AuditAnswer),
    ):
        TypeAdapter(kind).validate_json(program(route, scope="admin").text)


def references(value):
    if isinstance(value, dict):
        yield from [value["$ref"]] if "$ref" in value else []
        value = list(value.values())
    for one in value if isinstance(value, list) else ():
        yield from references(one)


def test_the_description_refers_only_to_what_it_has(program):
    described = value(program("openapi.json"))

    found = set(references(described))
    assert found
    assert found <= {f"#/components/schemas/{name}" for name in described["components"]["schemas"]}
    changes = [one["put"] for one in described["paths"].values() if "put" in one]
    assert changes
    for one in changes:
        assert "requestBody" in one
        assert "If-Match" in [parameter["name"] for parameter in one["parameters"]]
