import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler import CurlFetch, Request, Response
from crawler.fetch import any_address
from crawler.middleware import Cookies
from crawler.testing import Reply

from ...cpu_time import costs_at_most

NOW = 1_700_000_000.0


class Browser:
    """A Cookies middleware between a server and a client of the test."""

    def __init__(self, clock, **options):
        self.cookies = Cookies(clock=clock, **options)

    def visit(self, url, *fields, flags=(), **request):
        """Let the server at *url* set cookies, in UTF-8; header fields are read as Latin-1."""
        headers = [("Set-Cookie", field.encode().decode("latin-1")) for field in fields]
        request = Request(url, **request)
        self.cookies.after_download(Response(url, 200, headers, b"", request, 0, frozenset(flags)))
        return self

    def sends(self, url, **request):
        """Return the Cookie field that a request to *url* gets."""
        sent = self.cookies.before_download(Request(url, **request))
        return sent.headers.get("cookie", "")


@pytest.fixture
def browser(clock):
    return Browser(clock)


def test_what_a_host_sets_it_gets_back(browser):
    browser.visit("http://a.test/", "sid=1; HttpOnly; SameSite=Lax", "lang=en")

    assert browser.sends("http://a.test/page?x=1") == "sid=1; lang=en"


def test_bytes_beyond_ascii_come_back_as_they_came(serve):
    city = "städte=Köln"
    page = Reply(200, {"Set-Cookie": city.encode().decode("latin-1") + "; Path=/"})
    site, cookies = serve({"/": page}), Cookies()

    with CurlFetch(allow_address=any_address) as fetch:
        cookies.after_download(fetch(Request(site.url())))
        fetch(cookies.before_download(Request(site.url())))

    assert site.requests[1].headers["cookie"].encode("latin-1").decode() == city


def test_a_cookie_ends_when_it_said(browser, clock):
    browser.visit("http://a.test/", "c=1; Max-Age=60", "session=1")
    clock.sleep(59)
    assert browser.sends("http://a.test/") == "c=1; session=1"

    clock.sleep(1)

    assert browser.sends("http://a.test/") == "session=1"


@given(st.text(), st.sampled_from(["http://a.test/", "https://x.github.io/a/b"]))
def test_whatever_a_server_sets_a_request_can_be_sent(field, url):
    browser = Browser(lambda: NOW).visit(url, field)

    assert not {"\r", "\n", "\0"} & set(browser.sends(url))


# -- the jar ----------------------------------------------------------------------------------


def test_a_cookie_set_again_is_replaced_where_it_stood(browser):
    browser.visit("http://a.test/", "a=1", "b=1").visit("http://a.test/", "a=2")

    assert browser.sends("http://a.test/") == "a=2; b=1"


def test_one_set_to_have_expired_is_deleted(browser):
    browser.visit("http://a.test/", "a=1", "b=1").visit("http://a.test/", "a=; Max-Age=0")

    assert browser.sends("http://a.test/") == "b=1"
    assert len(browser.cookies.jar()) == 1


def test_longer_paths_come_first_and_one_name_may_come_twice(browser):
    browser.visit("http://a.test/", "a=short; Path=/", "b=1; Path=/", "a=long; Path=/x")

    assert browser.sends("http://a.test/x") == "a=long; a=short; b=1"


@pytest.mark.parametrize(
    ("field", "sent"),
    [
        ("sid=evil", "sid=good"),
        ("sid=evil; Max-Age=0", "sid=good"),
        ("other=1", "sid=good; other=1"),
    ],
)
def test_plain_http_does_not_touch_a_secure_cookie(browser, field, sent):
    browser.visit("https://example.com/", "sid=good; Secure; Domain=example.com")

    browser.visit("http://example.com/", field).visit("http://a.example.com/", "sid=evil")

    assert browser.sends("https://example.com/") == sent


def test_what_a_request_brings_by_hand_wins(browser):
    browser.visit("http://a.test/", "a=jar", "b=jar")

    assert browser.sends("http://a.test/", cookies={"a": "own"}) == "a=own; b=jar"
    assert browser.sends("http://a.test/", headers={"COOKIE": "only=this"}) == "only=this"


def test_a_request_without_cookies_is_left_as_it_is(browser):
    request = Request("http://a.test/", cookies={"own": "1"})

    assert browser.cookies.before_download(request) is request


def test_cookies_by_hand_are_sent_once(serve):
    site, cookies = serve({"/": Reply(200, {"Set-Cookie": "jar=1"})}), Cookies()

    with CurlFetch(allow_address=any_address) as fetch:
        cookies.after_download(fetch(Request(site.url())))
        fetch(cookies.before_download(Request(site.url(), cookies={"own": "1"})))

    assert site.requests[1].headers.all("cookie") == ["own=1; jar=1"]


def test_sessions_do_not_share_cookies(browser):
    browser.visit("http://a.test/", "who=one", meta={"session": "one"})
    browser.visit("http://a.test/", "who=nobody")

    assert browser.sends("http://a.test/", meta={"session": "one"}) == "who=one"
    assert browser.sends("http://a.test/", meta={"session": "two"}) == ""
    assert browser.sends("http://a.test/") == "who=nobody"

    browser.cookies.jar("one").clear()

    assert browser.sends("http://a.test/", meta={"session": "one"}) == ""


def test_a_cached_answer_sets_no_cookie(browser):
    browser.visit("http://a.test/", "c=old", flags={"cached"})

    assert browser.sends("http://a.test/") == ""


# -- limits -----------------------------------------------------------------------------------


def test_a_domain_keeps_its_newest_180(browser):
    for host in ("a", "b"):
        browser.visit(f"http://{host}.example.com/", *(f"{host}{n}=1" for n in range(150)))

    jar = browser.cookies.jar()

    assert len(jar) == len(list(jar)) == 180
    assert browser.sends("http://b.example.com/").count("=") == 150
    assert browser.sends("http://a.example.com/").startswith("a120=1; ")


def test_a_flood_of_cookies_costs_no_more_than_those_that_are_kept(browser):
    """It takes half a second if each of them is looked at: all other hosts would wait."""

    def visit(number):
        browser.visit("http://a.test/", *(f"n{n}=1" for n in range(number)))

    assert costs_at_most(8, lambda: visit(5000), lambda: visit(180))
    visit(5000)
    assert browser.sends("http://a.test/").startswith("n4820=1; ")


def test_expired_cookies_make_room_first(browser, clock):
    browser.visit("http://a.test/", "keep=1", *(f"c{n}=1; Max-Age=10" for n in range(179)))
    clock.sleep(11)

    browser.visit("http://a.test/", "new=1")

    assert browser.sends("http://a.test/") == "keep=1; new=1"
    assert len(browser.cookies.jar()) == 2


def test_a_jar_forgets_the_domain_asked_least_recently(clock):
    browser = Browser(clock, most=300)
    for name in ("a", "b", "c"):
        browser.visit(f"http://{name}.test/", *(f"{n}=1" for n in range(100)))
    assert browser.sends("http://a.test/")

    browser.visit("http://d.test/", "one=1")

    assert not browser.sends("http://b.test/")
    assert browser.sends("http://a.test/")
    assert browser.sends("http://c.test/")
    assert len(browser.cookies.jar()) == 201


def test_a_jar_keeps_a_megabyte_however_many_domains_set_large_cookies(browser, clock):
    """All cookies are written each second: 17 MB of JSON would hold up every host for that time."""
    large = "x" * 4000
    for number in range(60):
        browser.visit(f"http://{number}.test/", *(f"n{n}={large}" for n in range(170)))

    assert len(json.dumps(browser.cookies.changes())) < 1_200_000
    assert browser.sends("http://59.test/").count("=") == 170

    again = Browser(clock)
    again.cookies.restore({"": [one.to_values() for one in browser.cookies.jar()] * 2})
    assert len(again.cookies.jar()) == len(list(again.cookies.jar())) == 170


def test_cookies_that_are_replaced_or_deleted_leave_room_for_others(browser):
    large = "x" * 4000
    for _ in range(10):
        browser.visit("http://a.test/", *(f"n{n}={large}" for n in range(170)))
    browser.visit("http://a.test/", *(f"n{n}=; Max-Age=0" for n in range(170)), "small=1")
    browser.visit("http://b.test/", *(f"n{n}={large}" for n in range(170)))

    assert browser.sends("http://a.test/") == "small=1"


def test_hosts_that_set_none_cost_nothing(browser):
    for n in range(1000):
        browser.sends(f"http://h{n}.test/")

    assert not browser.cookies.jar()._domains


# -- in a crawl -------------------------------------------------------------------------------


def test_a_login_over_a_redirect_is_remembered(serve, crawl):
    def home(request):
        welcome = "sid=7" in request.headers.get("cookie", "")
        return "<a href='/next'>next</a>" if welcome else Reply(403)

    site = serve(
        {
            "/login": Reply(302, {"Set-Cookie": "sid=7; Path=/", "Location": "/home"}),
            "/home": home,
            "/next": home,
        }
    )

    with CurlFetch(allow_address=any_address) as fetch:
        summary, _ = crawl(site.url("/login"), fetch, Cookies())

    assert summary.urls.done == 2
    assert [hit.headers.get("cookie") for hit in site.requests] == [None, "sid=7", "sid=7"]


def test_cookies_are_saved_when_they_have_changed_and_restored():
    kept = Cookies(clock=lambda: 1000.0)
    request = Request("http://site.test/a/b")
    assert kept.changes() is None
    fields = [
        ("Set-Cookie", "a=1"),
        ("Set-Cookie", "b=2; Max-Age=60; Path=/"),
        ("Set-Cookie", "c=; Max-Age=0"),
    ]
    kept.after_download(Response(request.url, 200, fields, b"", request))
    saved = json.loads(json.dumps(kept.changes()))
    assert kept.changes() is None

    again = Cookies(clock=lambda: 1030.0)
    again.restore(saved)

    assert again.before_download(request).headers["Cookie"] == "a=1; b=2"
    later = Cookies(clock=lambda: 1061.0)
    later.restore(saved)
    assert later.before_download(request).headers["Cookie"] == "a=1"
