import pytest

from crawler import CurlFetch, FetchError, Request
from crawler.errors import Refusal
from crawler.fetch import any_address
from crawler.middleware import Cookies, HttpAuth, HttpCache, MaxSize, Middlewares
from crawler.testing import Reply, Site

from .cached_site import ASKED, HIT, HOME, REVALIDATED, STALE, date, numbered, validated

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


def test_a_body_for_a_file_is_neither_stored_nor_answered(cached, tmp_path):
    ask = cached(Reply(200, {"cache-control": "max-age=60"}, "page"))
    ask(save_to=tmp_path / "file")
    assert ask.flags() == ASKED

    assert ask.flags() == HIT
    assert ask.flags(save_to=tmp_path / "file") == ASKED


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
    """Return a page that can be fetched once."""
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


# -- options and counts -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{"policy": "sometimes"}, {"stale_if_error": -1}, {"max_body": -1}]
)
def test_wrong_options_are_refused(tmp_path, options):
    with pytest.raises(ValueError):
        HttpCache(tmp_path, **options)


def test_its_counts_tell_how_it_went(cached, clock):
    ask = cached(validated(clock, etag='"a"', cache_control="max-age=60"))
    ask()
    ask()
    clock.sleep(60)
    ask()

    figures = dict(miss=1, stored=2, hit=1, revalidated=1, damaged=0, failed=0)  # noqa: C408
    assert ask.cache.counts == figures
    assert "1 hit" in repr(ask.cache)


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

    with CurlFetch(allow_address=any_address) as fetch:
        summaries = [crawl(site.url(), fetch, HttpCache(tmp_path))[0] for _ in range(2)]

    assert [summary.urls.done for summary in summaries] == [2, 2]
    assert [hit.path for hit in site.requests] == ["/", "/home", "/a"]


def test_a_refusal_further_out_does_not_keep_an_answer_from_being_stored(cached):
    ask = cached(Reply(200, {"cache-control": "max-age=60"}, "page"), MaxSize(1))

    for _ in range(2):
        with pytest.raises(Refusal):
            ask()

    assert ask.asked == 1
