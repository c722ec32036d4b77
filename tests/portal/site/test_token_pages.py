import json

from .conftest import Client


def test_a_token_is_shown_once(portal, operator):
    page = operator.post("/tokens", {"name": "<b>ci", "scope": "run", "days": "30"}).text
    token = page.partition('id="new-token">')[2].partition("<")[0]

    assert token.startswith("crawler_")
    assert "<b>ci" not in page
    assert token not in operator.ask("/tokens").text
    answer = Client(portal).ask("/api/v1/tasks", Authorization=f"Bearer {token}")
    assert json.loads(answer.text) == {"tasks": []}

    operator.post("/tokens/1/remove")
    assert Client(portal).ask("/api/v1/tasks", Authorization=f"Bearer {token}").status == 401


def test_sessions_in_other_browsers_can_be_ended(portal, viewer):
    other = Client(portal).sign_in("viewer")
    assert "End the others" in viewer.ask("/tokens").text

    assert viewer.post("/sessions/end").status == 303

    assert other.ask("/").headers["Location"] == "/login"
    assert viewer.ask("/").status == 200


def test_a_viewer_sees_and_makes_only_tokens_that_read(viewer, admin):
    admin.post("/tokens", {"name": "of-the-admin", "scope": "run", "days": "30"})

    assert "of-the-admin" not in viewer.ask("/tokens").text
    assert (
        "does not allow" in viewer.post("/tokens", {"name": "x", "scope": "run", "days": "1"}).text
    )
    assert "1 to 366" in viewer.post("/tokens", {"name": "x", "scope": "read", "days": "0"}).text
    viewer.post("/tokens/1/remove")
    assert "of-the-admin" in admin.ask("/tokens").text
