import json

import pytest

from ..projects.conftest import SPIDER, Repository
from .conftest import value


@pytest.fixture
def given(tmp_path, portal):
    portal.builds.step = lambda: None
    repository = Repository(tmp_path)
    repository.tag("release/shop/1.0", {"shop.py": SPIDER})
    return {"name": "shop", "url": repository.url}


def test_a_program_adds_changes_and_removes_a_project(portal, program, given):
    added = program("projects", "POST", "admin", given | {"login": "password", "secret": "s3same"})
    assert added.status == 201
    shop = portal.builds.projects.find(value(added)["id"])
    assert portal.builds.projects.secret(shop) == "s3same"
    route, match = f"projects/{shop.id}", {"If-Match": added.headers["ETag"]}
    changed = given | {"login": "password", "user": "anna"}

    assert program(route, "PUT", "admin", changed).status == 428
    answer = program(route, "PUT", "admin", changed, **match)
    assert (answer.status, value(answer)["user"]) == (200, "anna")
    assert portal.builds.projects.secret(shop) == "s3same"  # it was not given
    assert program(route, "PUT", "admin", changed, **match).status == 412
    assert program(route, "DELETE", "admin", **match).status == 412
    now = {"If-Match": answer.headers["ETag"]}
    renamed = program(route, "PUT", "admin", changed | {"name": "other"}, **now)
    assert (renamed.status, json.loads(renamed.text)["errors"].keys()) == (422, {"name"})
    assert program(route, "DELETE", "admin", **now).status == 204

    assert value(program("projects")) == {"projects": []}
    for text in (added.text, answer.text, program("audit", scope="admin").text):
        assert "s3same" not in text


def test_tags_become_builds(portal, program, given):
    number = value(program("projects", "POST", "admin", given))["id"]

    assert value(program(f"projects/{number}/tags", "POST")) == {"new": 1}
    [version] = value(program(f"projects/{number}/versions"))["versions"]
    assert (version["version"], version["state"]) == ("1.0", "asked")
    assert value(program("builds"))["versions"] == [version]
    portal.builds.versions.set_state(version["id"], "failed", "no network")
    assert value(program(f"builds/{version['id']}"))["reason"] == "no network"
    assert value(program(f"builds/{version['id']}/retry", "POST"))["state"] == "asked"
    assert program("builds/99").status == 404


def test_only_an_admin_adds_code(program, given):
    for scope in ("read", "run", "edit"):
        assert program("projects", "POST", scope, given).status == 403
    wrong = program("projects", "POST", "admin", given | {"url": "file:///etc", "login": "key"})
    assert set(json.loads(wrong.text)["errors"]) == {"url", "secret"}


def test_a_repository_that_is_away_is_a_bad_gateway(program, given):
    given["url"] = given["url"].replace("shop.git", "other.git")
    number = value(program("projects", "POST", "admin", given))["id"]

    assert program(f"projects/{number}/tags", "POST").status == 502
