import pytest

from crawler.portal.access import HEADERS, VARIABLE, Access, new_token

from .conftest import request

TOKEN = "a-token-of-the-test"
ROUTES = [
    "",
    "events",
    "why?url=x",
    "metrics",
    "api/v1/figures",
    "api/v1/hosts",
    "api/v1/why?url=x",
    "style.css",
    "live.js",
    "icon.svg",
    "nothing",
]
COMMANDS = ["pause", "resume", "stop", "delay"]


def routes_of(live):
    """Return the rules of the running server."""
    app = live.page._server.application._app
    return {rule.rule.removeprefix("/") for rule in app.url_map.iter_rules()}


def test_the_lists_of_this_file_name_every_route(live):
    named = {route.partition("?")[0] for route in [*ROUTES, *COMMANDS]}

    assert routes_of(live) - {"<name>"} == named - {"style.css", "live.js", "icon.svg", "nothing"}


@pytest.mark.parametrize("prefix", ["", "x/", "tokentokentokentoken/", "%00/"])
def test_nothing_answers_without_the_token(live, prefix):
    root = live.url.rsplit("/", 2)[0]

    for method, routes in (("GET", ROUTES), ("POST", COMMANDS)):
        for route in routes:
            answer = request(f"{root}/{prefix}{route}", method)
            assert answer.status == 403, route
            assert "hostile" not in answer.text
    assert not live.result.summary.paused
    assert not live.stopped.is_set()


def test_a_program_may_send_the_token_as_a_bearer(live):
    root, token = live.url.rsplit("/", 2)[:2]

    assert request(f"{root}/metrics", Authorization=f"Bearer {token}").status == 200
    assert request(f"{root}/metrics", Authorization="Bearer x").status == 403


@pytest.mark.parametrize("host", ["evil.test", "127.0.0.1.evil.test:80", "", "localhost.evil:80"])
def test_a_foreign_name_of_this_machine_is_refused(live, host):
    assert request(live.url, Host=host).status == 403


@pytest.mark.parametrize("host", ["localhost", "localhost:9999", "[::1]:80"])
def test_a_tunnel_to_this_machine_is_not_refused(live, host):
    assert request(live.url, Host=host).status == 200


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "http://evil.test"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}],
    ids=str,
)
def test_a_page_of_another_site_cannot_change_anything(live, headers):
    for command in COMMANDS:
        assert request(live.url + command, "POST", **headers).status == 403
    assert not live.result.summary.paused
    assert not live.stopped.is_set()


def test_reading_changes_nothing(live):
    before = live.result.summary.urls

    for method in ("GET", "HEAD"):
        for command in COMMANDS:
            assert request(live.url + command, method).status in {404, 405}

    assert live.result.summary.urls == before
    assert not live.result.summary.paused
    assert not live.stopped.is_set()


def test_every_answer_has_the_same_policy(live):
    refused = request(live.url[:-5] + "xxxx/")

    for answer in (request(live.url), request(live.url + "style.css"), refused):
        policy = answer.headers["Content-Security-Policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert {name: answer.headers[name] for name in HEADERS} == HEADERS


def test_tokens_are_random_and_there_is_no_default(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)

    tokens = {new_token() for _ in range(100)}

    assert len(tokens) == 100
    assert min(map(len, tokens)) >= 32


@pytest.mark.parametrize("weak", ["", "short", "with a space in the middle", "slash/slash/slash/"])
def test_a_weak_token_of_the_user_is_refused(monkeypatch, weak):
    monkeypatch.setenv(VARIABLE, weak)

    with pytest.raises(ValueError, match="16 to 128"):
        new_token()


def test_a_token_of_the_user_is_used(monkeypatch):
    monkeypatch.setenv(VARIABLE, TOKEN)

    assert new_token() == TOKEN


def test_an_app_behind_it_sees_its_own_paths():
    seen = {}

    def app(environ, start):
        seen.update(environ)
        return []

    environ = {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": f"/{TOKEN}/a/b",
        "HTTP_HOST": "127.0.0.1:1",
    }
    Access(app, TOKEN)(environ, lambda status, headers: None)

    assert (seen["SCRIPT_NAME"], seen["PATH_INFO"]) == (f"/{TOKEN}", "/a/b")
