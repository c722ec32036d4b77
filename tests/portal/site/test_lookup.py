"""What is not there is named in the answer."""

import json


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
