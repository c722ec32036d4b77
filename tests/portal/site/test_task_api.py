import json

from crawler.portal.store.runs import Runs
from crawler.portal.store.tasks import Tasks

from .conftest import value

GIVEN = {"name": "news", "urls": ["http://127.0.0.1:9/"], "settings": {"delay": "1"}}


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


def test_a_program_adds_and_changes_a_task(portal, program):
    added = program("tasks", "POST", "edit", GIVEN)
    assert added.status == 201
    number = value(added)["id"]
    read = program(f"tasks/{number}", scope="edit")
    assert read.headers["ETag"] == added.headers["ETag"]

    changed = program(
        f"tasks/{number}",
        "PUT",
        "edit",
        GIVEN | {"cron": "5 4 * * *"},
        **{"If-Match": read.headers["ETag"]},
    )

    assert changed.status == 200, changed.text
    assert len(value(changed)["next"]) == 5
    assert changed.headers["ETag"] != read.headers["ETag"]
    [task] = Tasks(portal._database).all()
    assert (task.cron, task.settings, task.urls) == (
        "5 4 * * *",
        {"delay": "1"},
        ("http://127.0.0.1:9/",),
    )


def test_nobody_overwrites_what_they_have_not_read(portal, task, program, operator):
    etag = program(f"tasks/{task}").headers["ETag"]
    assert program(f"tasks/{task}", "PUT", "edit", GIVEN).status == 428
    form = operator.ask(f"/tasks/{task}/edit").text
    old = form.partition('name="etag" value="')[2].partition('"')[0]
    match = {"If-Match": etag}
    assert program(f"tasks/{task}", "PUT", "edit", GIVEN, **match).status == 200

    assert program(f"tasks/{task}", "PUT", "edit", GIVEN | {"note": "x"}, **match).status == 412
    late = {"name": "mine", "urls": "http://127.0.0.1:9/", "output": "items.jsonl"}
    late |= {"zone": "UTC", "overlap": "skip", "misfire": "once", "etag": old}
    assert operator.post(f"/tasks/{task}/edit", late).status == 409

    assert Tasks(portal._database).find(task).name == "news"


WRONG = [
    (GIVEN | {"cron": "61 * * * *"}, "cron"),
    (GIVEN | {"spider": "../x.py:A"}, "spider"),
    (GIVEN | {"settings": {"pipelines": "os:system"}}, "settings"),
    (GIVEN | {"settings": {"delay": 1}}, "settings.delay"),
    (GIVEN | {"name": "quotes"}, "name"),
    (GIVEN | {"id": 5}, "id"),
    ({}, "name"),
    ([], "body"),
]


def test_what_is_wrong_is_named(portal, task, program):
    for given, field in WRONG:
        answer = program("tasks", "POST", "edit", given)
        assert answer.status == 422, given
        assert field in json.loads(answer.text)["errors"], given

    assert len(Tasks(portal._database).all()) == 1


def test_only_json_is_taken_and_only_with_the_scope(task, program):
    kind = {"Content-Type": "text/plain"}
    assert program("tasks", "POST", "edit", GIVEN, **kind).status == 415
    assert program("tasks", "POST", "run", GIVEN).status == 403
    assert program("tasks", "POST", "read", GIVEN).status == 403


def test_pages_and_programs_leave_the_agents_that_a_task_wants(portal, task, operator, program):
    portal._database.change("UPDATE task SET agents = 3")
    given = {"name": "quotes", "urls": ["http://127.0.0.1:9/"]}
    etag = program(f"tasks/{task}").headers["ETag"]

    changed = program(f"tasks/{task}", "PUT", "edit", given, **{"If-Match": etag})
    assert changed.headers["ETag"] == program(f"tasks/{task}").headers["ETag"]
    form = {"zone": "UTC", "overlap": "skip", "misfire": "once", "if_lost": "resume"}
    form |= {"name": "quotes", "urls": "http://127.0.0.1:9/", "output": "items.jsonl"}
    assert operator.post(f"/tasks/{task}/edit", form).status == 303

    assert Tasks(portal._database).find(task).agents == 3
