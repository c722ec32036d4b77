import os
from email.utils import formatdate

import pytest

from crawler import CurlFetch, FetchError, Request, Response
from crawler.errors import Refusal
from crawler.middleware import Cookies, HttpAuth, HttpCache, MaxSize, Middlewares
from crawler.middleware.download.cache_freshness import directives
from crawler.testing import Reply, Site

HOME = "http://site.test/"
HIT, ASKED, REVALIDATED, STALE = ({"cached"}, set(), {"revalidated"}, {"stale"})


class Cached:
    """A site in a dict behind a cache; calls give body and flags."""

    def __init__(self, directory, clock, page, *outer, inner=(), **options):
        self.site = Site({"/": page})
        self.cache = HttpCache(directory, clock=clock, **options)
        self.chain = Middlewares(self.site, [*outer, self.cache, *inner])

    def __call__(self, method="GET", **request):
        response = self.chain(Request(HOME, method, **request))
        return response.body.decode(), set(response.flags)

    def flags(self, **request):
        return self(**request)[1]

    @property
    def asked(self):
        return len(self.site.requests)


@pytest.fixture
def cached(tmp_path, clock):
    return lambda page, *outer, **options: Cached(tmp_path, clock, page, *outer, **options)


def date(clock, offset=0):
    return formatdate(clock.now + offset, usegmt=True)


def numbered(**headers):
    """A page that counts how often it was served."""
    count = iter(range(1, 100))
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: Reply(200, fields, f"page {next(count)}")


def validated(clock, **headers):
    """A page with validators, which answers 304 as long as it is asked for the same."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}

    def page(request):
        same = request.headers.get("if-none-match") == fields.get("etag", "no")
        same = same or request.headers.get("if-modified-since") == fields.get("last-modified", "no")
        extra = {"date": date(clock), "x-seen": str(clock.now)}
        return Reply(304, fields | extra) if same else Reply(200, fields | extra, "page")

    return page


# -- freshness --------------------------------------------------------------------------------


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


# -- what requests say ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "flags"),
    [
        ({}, HIT),
        ({"cache-control": "no-cache"}, ASKED),
        ({"Cache-Control": "max-age=0"}, ASKED),
        ({"Cache-Control": "max-age=100"}, HIT),
        ({"cache-control": "no-store"}, ASKED),
        ({"Range": "bytes=0-1"}, ASKED),
        ({"If-None-Match": '"mine"'}, ASKED),
    ],
)
def test_a_request_may_want_it_fresh(cached, clock, headers, flags):
    ask = cached(Reply(200, {"cache-control": "max-age=60"}, "page"))
    ask()
    clock.sleep(10)

    assert ask.flags(headers=headers) == flags


def test_what_a_request_does_not_want_stored_is_not(cached):
    ask = cached(Reply(200, {"cache-control": "max-age=60"}, "page"))
    ask(headers={"cache-control": "no-store"})

    assert ask.flags() == ASKED


def test_who_asks_conditionally_gets_the_304(cached, clock):
    ask = cached(validated(clock, etag='"a"'))
    ask()

    response = ask.chain(Request(HOME, headers={"if-none-match": '"a"'}))

    assert (response.status, response.body) == (304, b"")


def test_a_request_that_changes_things_forgets_what_was_stored(cached):
    ask = cached(numbered(cache_control="max-age=60"))
    assert ask() == ("page 1", ASKED)

    ask("POST", body="x")

    assert ask() == ("page 3", ASKED)


def test_one_that_failed_has_changed_nothing(cached):
    page = Reply(200, {"cache-control": "max-age=60"}, "page")
    ask = cached(lambda request: page if request.method == "GET" else Reply(500))
    ask()

    ask("POST")

    assert ask.flags() == HIT


# -- vary, sessions, credentials --------------------------------------------------------------


@pytest.mark.parametrize(
    ("again", "flags"),
    [
        ({"headers": {"ACCEPT": "a", "x-other": "1"}}, HIT),
        ({"headers": {"accept": "b"}}, ASKED),
        ({}, ASKED),
        ({"headers": {"accept": "a"}, "cookies": {"c": "1"}}, ASKED),
        ({"headers": {"accept": "a", "cookie": "c=1"}}, ASKED),
    ],
)
def test_an_answer_answers_requests_of_its_kind(cached, again, flags):
    ask = cached(Reply(200, {"cache-control": "max-age=60", "vary": "Accept , cookie"}, "page"))
    ask(headers={"Accept": "a"})

    assert ask.flags(**again) == flags


def test_sessions_do_not_share_answers(cached):
    ask = cached(numbered(cache_control="private, max-age=60"))
    one, two = {"meta": {"session": "one"}}, {"meta": {"session": "two"}}

    assert ask(**one) == ("page 1", ASKED)
    assert ask(**two) == ("page 2", ASKED)
    assert ask(**one) == ("page 1", HIT)
    assert ask() == ("page 3", ASKED)


@pytest.mark.parametrize(
    ("control", "flags"),
    [
        ("max-age=60", ASKED),
        ("private, max-age=60", ASKED),
        ("public, max-age=60", HIT),
        ("must-revalidate, max-age=60", HIT),
        ("s-maxage=60, max-age=60", HIT),
    ],
)
def test_answers_to_credentials_are_stored_only_where_everybody_may(cached, control, flags):
    auth = HttpAuth("user", "s3cret", HOME)
    page = Reply(200, {"cache-control": control}, "page")

    for outer, inner in [((auth,), ()), ((), (auth,))]:
        ask = cached(page, *outer, inner=inner)
        ask()
        assert ask.flags() == flags

    ask = cached(page)
    ask(headers={"authorization": "x"})
    assert ask.flags(headers={"authorization": "y"}) == flags


def test_credentials_in_the_url_are_credentials(tmp_path):
    site = Site({"http://user:pw@site.test/": Reply(200, {"cache-control": "max-age=60"}, "page")})
    chain = Middlewares(site, [HttpCache(tmp_path)])

    answers = [chain(Request("http://user:pw@site.test/")) for _ in range(2)]

    assert [answer.flags for answer in answers] == [frozenset()] * 2


def test_no_secret_of_a_request_is_on_disk(cached, tmp_path):
    page = Reply(
        200,
        {
            "cache-control": "public, max-age=60",
            "vary": "Cookie, Authorization",
            "set-cookie": "sid=s3cret",
        },
        "page",
    )
    ask = cached(page, HttpAuth("user", "s3cret", HOME))
    ask(cookies={"c": "s3cret"}, headers={"x-token": "s3cret"})
    ask(cookies={"c": "s3cret"})

    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 1
    assert b"s3cret" not in files[0].read_bytes()
    assert b"dXNlcjpzM2NyZXQ" not in files[0].read_bytes()
    assert files[0].stat().st_mode & 0o077 == 0


def test_cookies_outside_are_part_of_what_an_answer_varies_by(cached):
    page = Reply(
        200, {"cache-control": "max-age=60", "vary": "cookie", "set-cookie": "a=1"}, "page"
    )
    ask = cached(page, Cookies())

    assert ask.flags() == ASKED
    assert ask.flags() == ASKED
    assert ask.flags() == HIT


# -- validation -------------------------------------------------------------------------------


@pytest.mark.parametrize("validator", ["etag", "last-modified"])
def test_a_stale_answer_is_asked_for_on_condition_that_it_changed(cached, clock, validator):
    value = '"v1"' if validator == "etag" else date(clock, -100)
    ask = cached(validated(clock, **{validator: value, "cache-control": "max-age=60"}))
    assert ask() == ("page", ASKED)
    clock.sleep(100)

    assert ask() == ("page", REVALIDATED)
    assert ask() == ("page", HIT)
    clock.sleep(100)

    assert ask() == ("page", REVALIDATED)
    sent = ask.site.requests[1].headers
    assert sent["if-none-match" if validator == "etag" else "if-modified-since"] == value


def test_a_304_brings_the_headers_up_to_date(cached, clock):
    ask = cached(validated(clock, etag='"v1"', age="70", cache_control="max-age=100"))
    ask.chain(Request(HOME))
    clock.sleep(1000)
    later = clock.now

    response = ask.chain(Request(HOME))

    assert response.status == 200
    assert response.headers["x-seen"] == str(later)
    assert response.headers["date"] == date(clock)
    assert response.headers.all("etag") == ['"v1"']
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "if-none-match" not in response.request.headers


def test_an_old_age_does_not_outlive_a_304(cached, clock):
    replies = iter(
        [
            Reply(200, {"etag": '"a"', "age": "55", "cache-control": "max-age=60"}, "page"),
            Reply(304, {"etag": '"a"'}),
        ]
    )
    ask = cached(lambda request: next(replies))
    ask()
    clock.sleep(100)
    assert ask.flags() == REVALIDATED

    clock.sleep(50)

    assert ask.flags() == HIT


def test_a_changed_page_takes_the_place_of_the_old_one(cached, clock):
    ask = cached(numbered(etag='"v"', cache_control="max-age=60"))
    ask()
    clock.sleep(60)

    assert ask() == ("page 2", ASKED)
    assert ask() == ("page 2", HIT)


def test_a_page_that_may_no_longer_be_stored_is_gone(cached, clock, tmp_path):
    replies = iter([Reply(200, {"cache-control": "max-age=60"}, "old"), Reply(200, {}, "new")])
    ask = cached(lambda request: next(replies))
    ask()
    clock.sleep(60)

    assert ask() == ("new", ASKED)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_no_cache_is_validated_every_time(cached, clock):
    ask = cached(validated(clock, etag='"v"', cache_control="no-cache, max-age=60"))

    assert [ask.flags() for _ in range(3)] == [ASKED, REVALIDATED, REVALIDATED]


def test_a_304_sets_its_own_cookies_and_no_old_ones(cached, clock):
    replies = iter(
        [
            Reply(200, {"etag": '"a"', "set-cookie": "old=1"}, "page"),
            Reply(304, {"etag": '"a"'}),
            Reply(304, {"etag": '"a"', "set-cookie": "new=1"}),
        ]
    )
    cookies = Cookies()
    ask = cached(lambda request: next(replies), cookies)
    ask()
    cookies.jar().clear()

    ask()
    assert [cookie.name for cookie in cookies.jar()] == []
    ask()
    assert [cookie.name for cookie in cookies.jar()] == ["new"]


# -- stale if error ---------------------------------------------------------------------------


def failing(kind="connect", **headers):
    """A page that can be had once."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    replies = iter([Reply(200, fields, "page")])

    def page(request):
        reply = next(replies, None)
        if reply is None:
            raise FetchError(kind, "away")
        return reply

    return page


@pytest.mark.parametrize(
    ("control", "option", "after", "used"),
    [
        ("max-age=60, stale-if-error=100", 0, 159, True),
        ("max-age=60, stale-if-error=100", 0, 160, False),
        ("max-age=60", 0, 61, False),
        ("max-age=60", 100, 159, True),
        ("max-age=60", 100, 160, False),
        ("max-age=60, must-revalidate", 100, 61, False),
        ("max-age=60, no-cache", 100, 30, False),
        ("max-age=60, stale-if-error=100, no-store", 100, 61, False),
    ],
)
def test_a_stale_answer_is_better_than_none(cached, clock, control, option, after, used):
    ask = cached(failing(cache_control=control), stale_if_error=option)
    ask()
    clock.sleep(after)

    if used:
        assert ask() == ("page", STALE)
    else:
        with pytest.raises(FetchError):
            ask()


@pytest.mark.parametrize("kind", ["tls", "blocked_address", "too_large", "bad_request"])
def test_a_failure_that_is_no_absence_stays_a_failure(cached, clock, kind):
    ask = cached(failing(kind, cache_control="max-age=1"), stale_if_error=1000)
    ask()
    clock.sleep(10)

    with pytest.raises(FetchError):
        ask()


def test_a_server_error_does_not_cost_what_is_stored(cached, clock):
    replies = iter([Reply(200, {"cache-control": "max-age=60", "etag": '"a"'}, "page"), Reply(503)])
    ask = cached(lambda request: next(replies, Reply(304)))
    ask()
    clock.sleep(60)

    assert ask() == ("", ASKED)
    assert ask() == ("page", REVALIDATED)


# -- the other policy -------------------------------------------------------------------------


def test_always_means_whatever_the_page_says_and_for_ever(cached, clock):
    page = numbered(cache_control="no-store, no-cache, max-age=0", vary="*", expires="0")
    ask = cached(page, policy="always")
    ask(headers={"authorization": "x"})

    clock.sleep(10**9)

    assert ask(headers={"cache-control": "no-cache", "accept": "x"}) == ("page 1", HIT)


def test_always_works_without_a_network(cached):
    ask = cached(failing(), policy="always")
    ask()

    assert ask() == ("page", HIT)


# -- files ------------------------------------------------------------------------------------


def files(directory):
    return [path for path in directory.rglob("*") if path.is_file()]


def test_it_is_still_there_for_the_next_crawl(cached):
    page = numbered(cache_control="max-age=60")
    cached(page)()

    assert cached(page)() == ("page 1", HIT)


def test_a_file_with_any_byte_changed_or_cut_off_is_ignored_and_counted(cached, tmp_path):
    ask = cached(Reply(200, {"cache-control": "max-age=60"}, "page"))
    ask()
    [path] = files(tmp_path)
    whole = path.read_bytes()

    damages = [whole[:end] for end in range(len(whole))]
    damages += [whole[:n] + bytes([whole[n] ^ 1]) + whole[n + 1 :] for n in range(len(whole))]
    for damaged in damages:
        path.write_bytes(damaged)
        assert ask.flags() == ASKED

    assert ask.flags() == HIT
    assert ask.cache.counts["damaged"] == len(damages)


@pytest.mark.parametrize("about", [b"{}", b"[]", b"7", b'{"status": 200, "headers": 7}', b"\xff"])
def test_a_forged_file_is_ignored(cached, tmp_path, about):
    from crawler.middleware.download.cache_files import digest

    ask = cached(Reply(200, {"cache-control": "max-age=60"}, "page"))
    ask()
    [path] = files(tmp_path)
    content = about + b"\nbody"
    path.write_bytes(b"crawler-cache-1 " + digest(content).encode() + b"\n" + content)

    assert ask.flags() == ASKED
    assert ask.cache.counts["damaged"] == 1


def test_a_disk_that_cannot_be_written_costs_no_page(cached, tmp_path, caplog):
    ask = cached(Reply(200, {"cache-control": "max-age=60"}, "page"))
    tmp_path.rmdir()
    tmp_path.write_text("in the way")

    assert ask() == ("page", ASKED)
    assert ask() == ("page", ASKED)
    assert ask.cache.counts["failed"] == 2
    assert "could not write" in caplog.text


def test_a_failed_write_leaves_nothing_behind(cached, tmp_path, monkeypatch):
    ask = cached(Reply(200, {"cache-control": "max-age=60"}, "page"))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr("pathlib.Path.replace", full)
    ask()

    assert not files(tmp_path)


def test_its_counts_tell_how_it_went(cached, clock):
    ask = cached(validated(clock, etag='"a"', cache_control="max-age=60"))
    ask()
    ask()
    clock.sleep(60)
    ask()

    figures = dict(miss=1, stored=2, hit=1, revalidated=1, damaged=0, failed=0)  # noqa: C408
    assert ask.cache.counts == figures
    assert "1 hit" in repr(ask.cache)


@pytest.mark.parametrize(
    "options", [{"policy": "sometimes"}, {"stale_if_error": -1}, {"max_body": -1}]
)
def test_wrong_options_are_refused(tmp_path, options):
    with pytest.raises(ValueError):
        HttpCache(tmp_path, **options)


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


# -- in a crawl -------------------------------------------------------------------------------


def test_a_second_crawl_asks_nobody(serve, crawl, tmp_path):
    headers = {"cache-control": "max-age=600"}
    site = serve(
        {
            "/": Reply(301, headers | {"location": "/home"}),
            "/home": Reply(200, headers, "<a href='/a'>a</a>"),
            "/a": Reply(200, headers, "a"),
        }
    )

    with CurlFetch() as fetch:
        summaries = [crawl(site.url(), fetch, HttpCache(tmp_path))[0] for _ in range(2)]

    assert [summary.urls.done for summary in summaries] == [2, 2]
    assert [hit.path for hit in site.requests] == ["/", "/home", "/a"]


def test_a_refusal_further_out_does_not_keep_an_answer_from_being_stored(cached):
    ask = cached(Reply(200, {"cache-control": "max-age=60"}, "page"), MaxSize(1))

    for _ in range(2):
        with pytest.raises(Refusal):
            ask()

    assert ask.asked == 1
