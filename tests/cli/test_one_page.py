"""One page without a crawl: redirects, robots.txt and errors."""

import pytest

from crawler.testing import LoopbackSite, Reply

from .conftest import crawler


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/left", "redirect_loop: {}right redirects to {}left again"),
        ("/0", "redirect_limit: more than 10 redirects"),
        ("/nowhere", "redirects to a target that is not a URL"),
    ],
)
@pytest.mark.parametrize("command", ["fetch", "links"])
def test_a_bad_redirect_is_an_error_of_one_line(odd_site, tmp_path, command, path, reason):
    done = crawler(command, odd_site.url(path), cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"crawler: {odd_site.url(path)}")
    assert reason.format(odd_site.url(), odd_site.url()) in done.stderr
    assert done.stderr.count("\n") == 1
    assert len(odd_site.requests) <= 11


def test_robots_txt_is_not_read_and_help_says_so(odd_site, tmp_path):
    done = crawler("fetch", odd_site.url("/"), cwd=tmp_path)
    help_text = crawler("fetch", "--help", cwd=tmp_path).stdout

    assert done.returncode == 0
    assert [hit.path for hit in odd_site.requests] == ["/"]
    assert "does not read robots.txt" in help_text


@pytest.mark.parametrize("command", ["fetch", "links"])
def test_the_url_is_trusted_by_its_address_and_its_redirects_are_not(tmp_path, command):
    with LoopbackSite({"/secret": "the secret"}) as site:
        inner = f"http://localhost:{site.port}/secret"
        site.pages |= {"/": Reply(302, {"location": inner})}

        done = crawler(command, site.url(), cwd=tmp_path)
        allowed = crawler(command, inner, cwd=tmp_path)

    assert done.returncode == 1
    assert "blocked_address: " in done.stderr
    assert done.stderr.endswith("add 'localhost' to the setting allow_addresses\n")
    assert allowed.returncode == 0
    assert [hit.path for hit in site.requests] == ["/", "/secret"]


def test_a_server_that_wants_a_digest_gets_one_by_the_setting(tmp_path, monkeypatch):
    """And without it, the error says so."""
    monkeypatch.setenv("CRAWLER_PASSWORD", "secret")
    challenge = {"www-authenticate": 'Digest realm="r", nonce="n", qop="auth"'}

    def guarded(request):
        login = request.headers.get("authorization", "")
        return "in" if login.startswith("Digest ") else Reply(401, challenge)

    with LoopbackSite({"/": guarded}) as site:
        basic = crawler("fetch", site.url("/"), "--auth", "me", cwd=tmp_path)
        digest = crawler("fetch", site.url("/"), "--auth", "me", "-s", "auth=digest", cwd=tmp_path)

    assert basic.returncode == 1
    assert "answered 401: it wants a digest instead" in basic.stderr
    assert "-s auth=digest" in basic.stderr
    assert (digest.returncode, digest.stdout) == (0, "in"), digest.stderr


def test_a_redirect_to_itself_with_a_cookie_is_followed(tmp_path):
    def page(request):
        if "seen=1" in request.headers.get("cookie", ""):
            return Reply(body="the page")
        return Reply(302, {"location": "/", "set-cookie": "seen=1"})

    with LoopbackSite({"/": page}) as site:
        done = crawler("fetch", site.url("/"), cwd=tmp_path)

    assert (done.returncode, done.stdout) == (0, "the page"), done.stderr
