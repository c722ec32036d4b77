"""What is not there is named in the answer."""

import json

import pytest


@pytest.mark.parametrize("kind", ["run", "task", "project", "version"])
def test_a_page_names_what_was_asked_for(admin, kind):
    answer = admin.ask(f"/{kind}s/17/")

    assert answer.status == 404
    assert f"There is no {kind} 17." in answer.text


@pytest.mark.parametrize(
    ("route", "kind"),
    [("runs/17/logs", "run"), ("tasks/17", "task"), ("projects/17", "project")],
)
def test_so_does_an_answer_of_the_api(admin, route, kind):
    answer = admin.ask(f"/api/v1/{route}")

    assert answer.status == 404
    assert json.loads(answer.text)["detail"] == f"There is no {kind} 17."


def test_a_pair_to_compare_must_be_there(admin):
    assert "There is no run 17." in admin.ask("/compare?a=17&b=18").text
