"""What the options of a request make of it, and what another origin gets to see."""

import pytest

from crawler.testing import LoopbackSite, Reply

from .conftest import crawler

SECRETS = {"authorization", "cookie", "x-token", "content-type"}


@pytest.fixture
def site():
    with LoopbackSite({"/": "page"}) as site:
        yield site


@pytest.mark.parametrize(
    ("options", "method", "body", "content"),
    [
        ([], "GET", b"", None),
        (["-X", "put"], "PUT", b"", None),
        (["-d", "a=1&b=é"], "POST", "a=1&b=é".encode(), "application/x-www-form-urlencoded"),
        (["-X", "PUT", "-d", "x", "-H", "content-type: text/plain"], "PUT", b"x", "text/plain"),
        (["--json-body", '{"a": [1]}'], "POST", b'{"a": [1]}', "application/json"),
    ],
)
def test_the_method_and_the_body_are_sent(site, tmp_path, options, method, body, content):
    done = crawler("fetch", site.url(), *options, cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    [hit] = site.requests
    assert (hit.method, hit.body, hit.headers.get("content-type")) == (method, body, content)


def test_header_fields_and_cookies_are_sent(site, tmp_path):
    options = ["-H", "X-Token: t:1", "-H", "Accept: text/plain", "--cookies", "a=b; c=d=e"]

    done = crawler("fetch", site.url(), *options, cwd=tmp_path)

    assert done.returncode == 0
    sent = site.requests[0].headers
    assert (sent["x-token"], sent["accept"], sent["cookie"]) == (
        "t:1",
        "text/plain",
        "a=b; c=d=e",
    )


def test_the_password_comes_from_the_environment(site, tmp_path, monkeypatch):
    monkeypatch.setenv("CRAWLER_PASSWORD", "s3cret")

    done = crawler("fetch", site.url(), "--auth", "ann", cwd=tmp_path)

    assert done.returncode == 0
    assert site.requests[0].headers["authorization"] == "Basic YW5uOnMzY3JldA=="


def test_the_password_can_be_typed_and_is_not_shown(site, terminal):
    shell = terminal("fetch", site.url(), "--auth", "ann")
    shell.read_until("Password of ann")
    shell.press(b"s3cret\n")

    assert shell.wait() == 0
    assert "page" in shell.text
    assert "s3cret" not in shell.text
    assert site.requests[0].headers["authorization"] == "Basic YW5uOnMzY3JldA=="


def test_nothing_secret_follows_to_another_origin(tmp_path, monkeypatch):
    monkeypatch.setenv("CRAWLER_PASSWORD", "s3cret")
    options = ["-d", "pin=1", "-H", "X-Token: 1", "--cookies", "a=b", "--auth", "ann"]
    with LoopbackSite({"/": "other"}) as other, LoopbackSite({}) as site:
        site.pages |= {
            "/": Reply(307, {"location": "/next"}),
            "/next": Reply(307, {"location": other.url()}),
        }

        done = crawler("fetch", site.url(), *options, cwd=tmp_path)

    assert done.stdout == "other"
    for hit in site.requests:
        assert {name.lower() for name in hit.headers} >= SECRETS
        assert hit.body == b"pin=1"
    [hit] = other.requests
    assert not SECRETS & {name.lower() for name in hit.headers}
    assert hit.body == b""


def test_a_form_may_lead_back_to_its_own_page(tmp_path):
    with LoopbackSite({}) as site:
        site.pages["/login"] = lambda hit: (
            Reply(303, {"location": "/login"}) if hit.method == "POST" else Reply(body="welcome")
        )

        done = crawler("fetch", site.url("/login"), "-d", "user=ann", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (0, "welcome")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["-H", "secret"], "a header field is 'NAME: VALUE'"),
        (["-H", "a b: c"], "header name 'a b' is not a token"),
        (["-X", "GE T"], "method must be a word such as GET or POST"),
        (["-d", "x", "--json-body", "{}"], "give -d or --json-body, not both"),
        (["--json-body", "{"], "--json-body is not JSON: "),
        (["--cookies", "secret"], "--cookies needs 'NAME=VALUE; NAME=VALUE'"),
        (["--auth", "ann:secret"], "--auth takes a user without a password"),
        (["--auth", "ann", "-H", "authorization: secret"], "a request has one login"),
        (["--auth", "ann"], "set the environment variable CRAWLER_PASSWORD"),
    ],
)
def test_a_wrong_option_is_a_usage_error_that_shows_no_secret(
    site, tmp_path, monkeypatch, options, reason
):
    monkeypatch.delenv("CRAWLER_PASSWORD", raising=False)

    done = crawler("fetch", site.url(), *options, cwd=tmp_path)

    assert done.returncode == 2
    assert reason in done.stderr
    assert "secret" not in done.stderr
    assert site.requests == []
