import pytest

from crawler import Request, Response
from crawler.middleware import HttpCache, Middlewares
from crawler.middleware.download.cache_freshness import directives
from crawler.testing import Reply

from .cached_site import ASKED, HIT, HOME, date


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", {}),
        (" , ,", {}),
        ("a, B=1 , c = 2", {"a": "", "b": "1", "c": "2"}),
        ('x="a, b=1", y', {"x": "a, b=1", "y": ""}),
        ('x="open, y', {"x": "", "open": "", "y": ""}),
        ("a;b=1", {"a": "", "b": "1"}),
    ],
)
def test_directives_are_read(text, found):
    assert directives({"cache-control": text}) == found


@pytest.mark.parametrize(
    ("headers", "fresh_for"),
    [
        ({"cache-control": "max-age=60"}, 60),
        ({"cache-control": "public, MAX-AGE = 60"}, 60),
        ({"cache-control": 'private="x, max-age=5", max-age="60"'}, 60),
        ({"cache-control": "max-age=60, max-age=5"}, 60),
        ({"cache-control": "s-maxage=600, max-age=60"}, 60),
        ({"cache-control": "private, max-age=60"}, 60),
        ({"cache-control": "max-age=60", "age": "20"}, 40),
        ({"cache-control": "max-age=60", "date": -20}, 40),
        ({"cache-control": "max-age=60", "date": +20}, 60),
        ({"cache-control": "max-age=60", "expires": -100}, 60),
        ({"expires": 60, "date": 0}, 60),
        ({"expires": 60}, 60),
        ({"expires": "0"}, 0),
        ({"expires": "-1", "etag": '"a"'}, 0),
        ({"cache-control": "max-age=x"}, 0),
        ({"cache-control": "max-age"}, 0),
        ({"cache-control": "max-age=-5"}, 0),
        ({"cache-control": "max-age=60, no-cache"}, 0),
        ({"cache-control": "max-age=60, no-store"}, 0),
        ({"cache-control": "s-maxage=60"}, 0),
        ({"cache-control": "max-age=60", "vary": "*"}, 0),
        ({"cache-control": "max-age=60", "vary": "Accept, *"}, 0),
        ({}, 0),
        ({"last-modified": -1000}, 0),
    ],
)
def test_an_answer_is_used_as_long_as_it_is_fresh(cached, clock, headers, fresh_for):
    fields = {n: date(clock, v) if isinstance(v, int) else v for n, v in headers.items()}
    ask = cached(lambda request: Reply(200, fields, "page"))
    ask()

    clock.sleep(fresh_for - 1)
    before = ask.flags() if fresh_for else HIT
    clock.sleep(1)

    assert before == HIT
    assert ask.flags() == ASKED


def test_a_cached_answer_is_the_same_but_for_its_cookies(cached):
    headers = {"cache-control": "max-age=60", "X-One": "1", "set-cookie": "a=b", "connection": "x"}
    ask = cached(Reply(200, headers, b"\n\x00body\n"))
    first, second = ask.chain(Request(HOME)), ask.chain(Request(HOME))

    assert (second.url, second.status, second.body) == (first.url, 200, b"\n\x00body\n")
    assert dict(second.headers) == {
        "content-type": "text/html; charset=utf-8",
        "cache-control": "max-age=60",
        "X-One": "1",
    }


def test_a_page_that_says_nothing_is_fresh_for_a_tenth_of_its_age_if_so_wished(cached, clock):
    page = {"last-modified": date(clock, -1000), "date": date(clock)}
    ask = cached(lambda request: Reply(200, page, "page"), heuristic=True)
    ask()

    clock.sleep(99)
    assert ask.flags() == HIT
    clock.sleep(1)

    assert ask.flags() == ASKED


@pytest.mark.parametrize("status", [200, 301, 302, 404, 410])
def test_what_says_how_long_it_holds_is_stored(cached, status):
    ask = cached(Reply(status, {"cache-control": "max-age=60", "location": "/x"}, "page"))
    ask()

    assert ask() == ("page", HIT)


@pytest.mark.parametrize("status", [206, 408, 429, 500, 502, 503])
def test_parts_and_passing_troubles_are_not_stored(cached, status):
    for policy in ("rfc9111", "always"):
        ask = cached(Reply(status, {"cache-control": "max-age=60"}, "page"), policy=policy)
        ask()

        assert ask.flags() == ASKED


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_only_get_and_head_are_cached(cached, method):
    ask = cached(Reply(200, {"cache-control": "max-age=60"}, "page"))
    ask(method)

    assert ask(method)[1] == ASKED
    assert ask("GET")[1] == ASKED


def test_get_and_head_are_kept_apart(cached):
    ask = cached(Reply(200, {"cache-control": "max-age=60"}, "page"))

    assert ask("HEAD") == ("", ASKED)
    assert ask("GET") == ("page", ASKED)
    assert ask("HEAD") == ("", HIT)
    assert ask("GET") == ("page", HIT)


def test_a_truncated_answer_is_not_stored(tmp_path):
    headers = {"cache-control": "max-age=60"}
    chain = Middlewares(
        lambda r: Response(r.url, 200, headers, "pa", r, flags=frozenset({"truncated"})),
        [HttpCache(tmp_path)],
    )
    chain(Request(HOME))

    assert chain(Request(HOME)).flags == {"truncated"}


@pytest.mark.parametrize(("size", "flags"), [(100, HIT), (101, ASKED)])
def test_large_bodies_are_not_stored(cached, size, flags):
    ask = cached(Reply(200, {"cache-control": "max-age=60"}, "x" * size), max_body=100)
    ask()

    assert ask.flags() == flags
