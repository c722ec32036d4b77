import hashlib
import hmac
import json
from urllib.parse import urlsplit

import gevent
import pytest
from gevent import socket

from ..conftest import HOSTILE
from ..projects.conftest import SPIDER, Repository

FORM = {
    "name": "shop",
    "url": "https://git.example.org/shop.git",
    "login": "password",
    "user": "anna",
    "secret": "s3same",
    "pattern": "release/{name}/{version}",
}


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path)


@pytest.fixture
def shop(portal, admin, repository):
    """A project of a bare repository."""
    answer = admin.post("/projects", FORM | {"url": repository.url, "login": "", "secret": ""})
    assert answer.headers["Location"] == "/projects/1/"
    return portal.builds.projects.find(1)


def hook(client, portal, shop, body=b"{}", delivery="d1", secret=None):
    key = secret or portal.builds.projects.hook_secret(shop)
    signature = hmac.new(key.encode(), body, hashlib.sha256).hexdigest()
    headers = {"X-Hub-Signature-256": f"sha256={signature}", "X-GitHub-Delivery": delivery}
    return client.ask(f"/hooks/{shop.name}", "POST", body=body, **headers)


def test_a_project_is_added_and_its_secret_is_never_shown(portal, admin, viewer):
    assert admin.post("/projects", FORM).status == 303

    for client in (admin, viewer):
        for route in ("/projects", "/projects/1/"):
            assert "s3same" not in client.ask(route).text
    assert portal.builds.projects.secret(portal.builds.projects.find(1)) == "s3same"


def test_the_secret_of_a_webhook_is_shown_once(portal, admin, shop):
    page = admin.post("/projects/1/rotate").text

    secret = page.partition('id="hook-secret">')[2].partition("<")[0]
    assert secret == portal.builds.projects.hook_secret(shop)
    assert secret not in admin.ask("/projects/1/").text


WRONG = [
    ("name", "../x", "lower-case"),
    ("url", "file:///etc", "https URL"),
    ("url", "--upload-pack=id", "https URL"),
    ("secret", "", "needed to sign in"),
    ("pattern", "{Release}:{Name}", "one {version} is needed"),
    ("login", "magic", "not a choice"),
]


def test_what_is_wrong_is_shown_beside_its_field(portal, admin):
    for field, value, words in WRONG:
        text = admin.post("/projects", FORM | {field: value}).text
        assert f'id="{field}-problem"' in text, value
        assert words in text
        assert "s3same" not in text

    assert portal.builds.projects.all() == []


def test_a_signed_webhook_asks_the_repository(portal, stranger, shop, repository):
    portal.builds.step = lambda: None
    repository.tag("release/shop/1.0", {"shop.py": SPIDER})

    assert hook(stranger, portal, shop).text == "1 new versions\n"
    assert hook(stranger, portal, shop).text == "known\n"
    assert hook(stranger, portal, shop, delivery="d2").text == "0 new versions\n"

    [version] = portal.builds.versions.of_project(shop.id)
    assert (version.version, version.state) == ("1.0", "asked")


def test_a_delivery_that_could_not_be_followed_may_come_again(portal, stranger, shop, repository):
    portal.builds.step = lambda: None
    repository.tag("release/shop/1.0", {"shop.py": SPIDER})
    away = repository.bare.rename(repository.bare.with_name("away"))
    assert hook(stranger, portal, shop).status == 502

    away.rename(repository.bare)

    assert hook(stranger, portal, shop).text == "1 new versions\n"


def test_an_unsigned_webhook_does_nothing(portal, stranger, shop, repository):
    repository.tag("release/shop/1.0", {"shop.py": SPIDER})

    assert hook(stranger, portal, shop, secret="wrong").status == 403
    assert stranger.ask("/hooks/shop", "POST").status == 403
    assert stranger.ask("/hooks/other", "POST").status == 403
    assert hook(stranger, portal, shop, body=b"x" * (1 << 20) + b"x").status == 413

    assert portal.builds.versions.of_project(shop.id) == []
    assert portal.builds.projects.deliveries(shop) == []


def cut_hook(portal, **headers):
    """Send a delivery of which the connection breaks off half; return the status of the answer."""
    parts, lines = urlsplit(portal.url), [f"{name}: {value}" for name, value in headers.items()]
    head = ["POST /hooks/shop HTTP/1.1", f"Host: {parts.netloc}", "Content-Length: 4", *lines]
    with socket.create_connection((parts.hostname, parts.port), timeout=120) as connection:
        connection.sendall("\r\n".join([*head, "", "{}"]).encode())
        connection.shutdown(socket.SHUT_WR)
        return int(connection.recv(4096).split()[1])


def test_a_delivery_that_is_cut_short_does_nothing(portal, shop, repository):
    repository.tag("release/shop/1.0", {"shop.py": SPIDER})
    secret = portal.builds.projects.hook_secret(shop)
    for body in (b"{}", b"{  }"):
        signature = hmac.new(secret.encode(), body, "sha256").hexdigest()
        signed = {"X-Hub-Signature-256": f"sha256={signature}", "X-GitHub-Delivery": "d1"}
        assert 400 <= cut_hook(portal, **signed) < 500
    with_token = {"X-Gitlab-Token": secret, "X-Gitlab-Event-UUID": "d2"}
    assert 400 <= cut_hook(portal, **with_token) < 500

    assert portal.builds.versions.of_project(shop.id) == []
    assert portal.builds.projects.deliveries(shop) == []


def test_deliveries_are_limited(portal, stranger, shop, monkeypatch):
    monkeypatch.setattr("crawler.portal.site.project_pages.time", lambda: 1e9)
    codes = [hook(stranger, portal, shop, secret="wrong").status for _ in range(35)]

    assert codes == [403] * 30 + [429] * 5


def test_hostile_tags_and_words_of_git_are_text(portal, admin, shop, repository):
    portal.builds.step = lambda: None
    portal.builds.versions.ask(shop, "1.0", HOSTILE, HOSTILE, 1)
    portal.builds.versions.set_state(1, "failed", HOSTILE)
    portal.builds.alarms.add(HOSTILE, HOSTILE, 1.0)
    path = portal.builds.path(portal.builds.versions.find(1))
    path.mkdir(parents=True)
    (path / "build.log").write_text(HOSTILE)

    for route in ("/projects", "/projects/1/", "/versions/1/", "/"):
        text = admin.ask(route).text
        assert "&lt;script&gt;" in text
        assert "<img" not in text


def test_a_repository_that_does_not_answer_is_said(portal, admin, shop, repository):
    repository.bare.rename(repository.bare.with_name("away"))

    assert "does not appear to be a git repository" in admin.post("/projects/1/tags").text


def test_a_project_that_a_task_uses_stays(portal, admin, shop):
    portal.builds.step = lambda: None
    portal.builds.versions.ask(shop, "1.0", "release/shop/1.0", "c", 1)
    portal.builds.versions.set_ready(1, "d", ["shop.py:Shop"])
    task = {"name": "t", "spider": "shop@latest shop.py:Shop", "output": "items.jsonl"}
    more = {"zone": "UTC", "overlap": "skip", "misfire": "once"}

    assert admin.post("/tasks/new", task | more).status == 303
    assert admin.post("/projects/1/remove").status == 409
    admin.post("/tasks/1/edit", task | more | {"spider": "", "urls": "http://127.0.0.1:9/"})
    assert admin.post("/projects/1/remove").status == 303
    assert json.loads(admin.ask("/api/v1/tasks").text)["tasks"][0]["source"] == ""


def test_the_log_of_a_build_is_sent_as_it_grows(portal, viewer, shop):
    portal.builds.step = lambda: None
    portal.builds.versions.ask(shop, "1.0", "release/shop/1.0", "c", 1)
    assert 'data-follow="yes"' in viewer.ask("/versions/1/").text
    portal.builds.versions.set_state(1, "building")
    path = portal.builds.path(portal.builds.versions.find(1))
    path.mkdir(parents=True)
    (path / "build.log").write_text(f"Collecting {HOSTILE}")
    stream = gevent.spawn(viewer.ask, "/versions/1/events")
    portal.builds.versions.set_state(1, "failed", "no wheel")

    text = stream.get(timeout=120).text

    assert "Collecting &lt;script&gt;" in text
    assert "no wheel" in text
    assert text.rstrip().endswith("event: end\ndata: {}")
    assert 'data-follow=""' in viewer.ask("/versions/1/").text


def test_builds_are_shown_and_tried_again(portal, operator, shop, repository):
    repository.tag("release/shop/1.0", {"a.txt": "x"})
    operator.post("/projects/1/tags")
    with gevent.Timeout(240):
        while portal.builds.versions.find(1).state != "failed":
            gevent.sleep(0.05)

    assert "there is no spider" in operator.ask("/versions/1/").text
    portal.builds.step = lambda: None
    assert operator.post("/versions/1/retry").status == 303
    assert portal.builds.versions.find(1).state == "asked"
