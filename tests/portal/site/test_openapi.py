"""Requests of all kinds to all that the description of the API names, and to all pages."""

import json
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from crawler.portal.site import answers
from crawler.portal.store.projects import Project
from crawler.portal.store.runs import Runs
from crawler.portal.store.tasks import Tasks

from .conftest import value

SHARED = "#/components/schemas/"
ODD = ["-1", "0", "1", "9" * 18, "9" * 19, "9" * 5000, "٣", "\x00", "%00", "../..", "run:1"]
ODD += [
    "run:" + "9" * 30,
    "0001-01-01T00:00",
    "9999-12-31T23:59",
    "2026-01-01T00:00+23:59",
    '"',
    "*",
]
TEXTS = st.one_of(st.text(max_size=20), st.sampled_from(ODD), st.integers().map(str))
NUMBERS = st.one_of(st.just(1), st.integers(0, 1 << 70)).map(str)
ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=6,
)


@pytest.fixture
def filled(portal, task, admin):
    """A run that is over, a project, a version that has failed, and an alarm."""
    portal.builds.step = lambda: None
    runs = Runs(portal._database)
    runs.ask(Tasks(portal._database).find(task), now=0, who="x")
    runs.end(runs.find(1), "failed", 2, 1.0)
    given = Project(0, "shop", "https://127.0.0.1:9/x.git", "", "", "v{version}")
    shop = portal.builds.projects.find(portal.builds.projects.add(given, "", now=1, who="x"))
    portal.builds.versions.ask(shop, "1.0", "v1.0", "c", 1)
    portal.builds.versions.set_state(1, "failed")
    portal.builds.alarms.add("shop 1.0", "has moved", 1)
    return portal


def bodies(schema, shared):
    """Return what a body of *schema* may be."""
    if "$ref" in schema:
        return bodies(shared[schema["$ref"].removeprefix(SHARED)], shared)
    if "anyOf" in schema:
        return st.one_of([bodies(each, shared) for each in schema["anyOf"]])
    if schema["type"] == "object":
        fields = {n: bodies(one, shared) for n, one in schema.get("properties", {}).items()}
        needed = {n: fields.pop(n) for n in schema.get("required", ())}
        return st.fixed_dictionaries(needed, optional=fields)
    if schema["type"] == "array":
        items = schema.get("items")
        return st.lists(bodies(items, shared) if items else ANYTHING, max_size=3)
    kinds = {"string": TEXTS, "boolean": st.booleans(), "integer": st.integers()}
    kinds["number"] = st.floats()
    return kinds.get(schema["type"], st.none())


def operations(described):
    return [
        (path, method, operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]


@settings(suppress_health_check=list(HealthCheck))  # one portal for all
@given(st.data())
def test_whatever_is_sent_to_the_api_the_answer_is_as_described(filled, program, data):
    described = value(program("openapi.json"))
    path, method, operation = data.draw(st.sampled_from(operations(described)))
    shared, query, headers, body = described["components"]["schemas"], {}, {}, None
    for parameter in operation["parameters"]:
        name, is_number = parameter["name"], parameter["schema"]["type"] == "integer"
        if parameter["in"] == "path":
            text = data.draw(NUMBERS if is_number else TEXTS)
            path = path.replace(f"{{{name}}}", quote(text, safe=""))
        elif parameter["in"] == "query" and data.draw(st.booleans()):
            query[name] = data.draw(TEXTS)
        elif parameter["in"] == "header" and data.draw(st.booleans()):
            headers[name] = data.draw(st.sampled_from(["*", '"x"', "x", '"', "W/"]))
    if "requestBody" in operation:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        body = data.draw(st.one_of(bodies(schema, shared), ANYTHING))

    route = f"{path.removeprefix('/api/v1/')}?{urlencode(query, errors='replace')}"
    answer = program(route, method.upper(), "admin", body, **headers)

    if answer.status == 414:  # by the server, before anything is looked at
        return
    wanted = operation["responses"].get(str(answer.status), operation["responses"]["default"])
    # A repository or a Redis that is not there is a fault of others.
    assert answer.status < 500 or answer.status in {502, 503}, answer.text
    if "content" not in wanted:
        return
    [(media, content)] = wanted["content"].items()
    assert answer.headers["Content-Type"].partition(";")[0] == media
    if "$ref" in content["schema"]:
        kind = getattr(answers, content["schema"]["$ref"].removeprefix(SHARED))
        TypeAdapter(kind).validate_python(json.loads(answer.text))


QUERY = ["words", "level", "request", "host", "before", "after", "around", "since", "until", "zone"]
QUERY += ["most", "seen", "task", "state", "name", "a", "b", "url", "cron", "topics", "problem"]


@settings(suppress_health_check=list(HealthCheck))  # one portal for all
@given(st.data())
def test_whatever_a_page_is_asked_for_it_answers(filled, admin, data):
    rules = [
        rule for rule in filled._server.application.url_map.iter_rules() if "GET" in rule.methods
    ]
    rule = data.draw(st.sampled_from(sorted(rules, key=str)))
    path = rule.rule
    for name, converter in rule._converters.items():
        is_number = type(converter).__name__ != "UnicodeConverter"
        text = quote(data.draw(NUMBERS if is_number else TEXTS), safe="")
        path = path.replace(f"<int:{name}>", text).replace(f"<{name}>", text)
    query = data.draw(st.dictionaries(st.sampled_from(QUERY), TEXTS, max_size=3))
    headers = data.draw(st.dictionaries(st.just("Last-Event-ID"), st.sampled_from(ODD[:6])))

    answer = admin.ask(f"{path}?{urlencode(query, errors='replace')}", **headers)

    assert answer.status < 500 or answer.status == 503, answer.text
