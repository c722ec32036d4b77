import datetime as dt
import itertools
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.frontier.admission import traps
from crawler.frontier.admission.traps import HAS_FORM, TrapGuard, UrlGroup
from crawler.testing import generated_site
from crawler.url import canonicalize

from ...cpu_time import takes_at_most

SITE = "http://example.org"


def reasons(guard, paths):
    return [guard.refusal(SITE + path) for path in paths]


def days(number, start=dt.date(2010, 1, 1)):
    return [start + dt.timedelta(days=day) for day in range(number)]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", None),
        ("/a/b/c/d/e/f/g/h", None),
        ("/a/a/a", None),
        ("/a/a/a/", None),
        ("/a/a/a/a", "trap_repeat"),
        ("/a/a/a/a?q", "trap_repeat"),
        ("/x/a/y/a/z/a", None),
        ("/x/a/y/a/z/a/w/a", "trap_repeat"),
        ("/a/b/a/b", None),
        ("/a/b/a/b/", None),
        ("/a/b/a/b/a", None),
        ("/a/b/a/b/a/b", "trap_repeat"),
        ("/a/b/a/b/a/b/", "trap_repeat"),
        ("/x/y/a/b/a/b/a/b/z.html", "trap_repeat"),
        ("/a/b/c/a/b/c/a/b/c", "trap_repeat"),
        ("/a/b/c/a/b/c/a/b/d", None),
        ("/a/b/b/a/a/b", None),
        ("/a//b//c", None),
        ("/a//b//c//", None),
        ("/a//b//c//d//e", "trap_repeat"),
        ("/x?u=/a/a/a/a/a/a", None),
        ("/example.org/a/example.org/b/example.org", None),
        ("/" + "/".join(map(str, range(30))), None),
        ("/" + "/".join(map(str, range(30))) + "/", None),
        ("/" + "/".join(map(str, range(31))), "trap_depth"),
        ("/a?" + "/" * 100, None),
    ],
)
def test_shapes_of_paths(path, expected):
    assert expected == TrapGuard().refusal(SITE + path)


def test_the_limits_of_a_shape_are_settings():
    guard = TrapGuard(max_repeats=2, max_segments=5)

    assert reasons(guard, ["/a/b/a/b", "/a/x/a/y/a", "/a/x/a/y", "/1/2/3/4/5", "/1/2/3/4/5/6"]) == [
        "trap_repeat",
        "trap_repeat",
        None,
        None,
        "trap_depth",
    ]


def test_too_many_query_variants_of_one_path():
    guard = TrapGuard(max_query_variants=3)

    assert reasons(guard, [f"/list?page={n}" for n in range(5)]) == [None] * 3 + ["trap_query"] * 2
    assert reasons(guard, ["/list", "/other?page=1", "/list/?page=1"]) == [None] * 3
    assert guard.refusal("http://other.org/list?page=9") is None


@pytest.mark.parametrize(
    "form",
    [
        "/calendar/%Y/%m/%d",
        "/calendar/%Y/%m/%d/",
        "/calendar/%Y-%m-%d",
        "/calendar/%Y_%m_%d.html",
        "/calendar/%Y/%m/%d/week",
        "/calendar?day=%Y-%m-%d",
        "/calendar?day=%Y%%2F%m%%2F%d",
        "/calendar?day=%Y.%m.%d&view=day",
        "/calendar?year=%Y&month=%m&day=%d",
        "/calendar/?from=%Y-%m-%d&to=%Y-%m-%d",
    ],
)
def test_too_many_dates_on_one_calendar(form):
    guard = TrapGuard(max_dates=100)
    paths = [day.strftime(form) for day in days(103)]

    assert reasons(guard, paths) == [None] * 100 + ["trap_calendar"] * 3


def test_months_are_dates_too():
    guard = TrapGuard(max_dates=20)
    paths = [f"/events/{year}/{month}" for year in range(2000, 2003) for month in range(1, 13)]

    assert reasons(guard, paths) == [None] * 20 + ["trap_calendar"] * 16


@pytest.mark.parametrize(("first", "step"), [(2024, 1), (2024, -1), (2095, 1), (1905, -1)])
def test_a_calendar_ends_in_the_far_future_and_in_the_past(first, step):
    guard = TrapGuard(max_dates=150)
    years = range(first, first + 50 * step, step)

    found = reasons(
        guard, (f"/events/{year}/{month:02}" for year in years for month in range(1, 13))
    )

    assert found == [None] * 150 + ["trap_calendar"] * 450


@pytest.mark.parametrize(
    "form",
    [
        "/2010/05/17/post-{}",  # each post has a name of its own
        "/item/2010{:04}",  # the number of an article
        "/item/12010-05-{}",
        "/item/20{:02}-123",
        "/item/2010-50-{}",
        "/tags/{}-05-17",
        "/1710/05/{}",
    ],
)
def test_what_is_no_calendar(form):
    guard = TrapGuard(max_dates=10)

    assert set(reasons(guard, map(form.format, range(50)))) == {None}


def test_the_pages_of_a_host_are_limited():
    guard = TrapGuard(max_pages_per_host=2)

    assert reasons(guard, ["/a", "/b", "/c", "/d"]) == [None, None, "host_cap", "host_cap"]
    assert guard.refusal("https://user:secret@example.org:8080/e") == "host_cap"
    assert guard.refusal("http://www.example.org/a") is None
    assert guard.refusal("http://[::1]:80/a") is None


def test_a_chain_of_alike_pages_has_a_limit():
    guard = TrapGuard(max_chain=3)

    chain = [guard.refusal(f"{SITE}/day/{n}", depth=n) for n in range(1, 7)]

    assert chain == [None] * 4 + ["trap_chain"] * 2
    assert TrapGuard(max_chain=None).refusal(f"{SITE}/day/1", depth=10**6) is None


def test_what_an_earlier_run_let_through_belongs_to_the_chain():
    guard = TrapGuard(max_chain=3)
    for n in range(1, 5):
        guard.count(f"{SITE}/day/{n}", depth=n)

    assert guard.refusal(f"{SITE}/day/5", depth=5) == "trap_chain"


def test_what_is_refused_for_another_reason_is_no_page_of_its_host():
    guard = TrapGuard(max_pages_per_host=2)

    assert reasons(guard, ["/a/a/a/a", "/a", "/b", "/c"]) == ["trap_repeat", None, None, "host_cap"]


def test_the_first_few_of_each_reason_are_kept():
    guard = TrapGuard(max_pages_per_host=1, max_query_variants=1)
    reasons(guard, [f"/{n}" for n in range(10)])
    reasons(guard, [f"/list?{n}" for n in range(3)])

    assert guard.samples == {
        "host_cap": [f"{SITE}/1", f"{SITE}/2", f"{SITE}/3"],
        "trap_query": [f"{SITE}/list?1", f"{SITE}/list?2"],
    }


def test_memory_is_bounded_and_what_is_met_often_is_not_forgotten():
    guard = TrapGuard(max_query_variants=50, most_counted=100)
    refused = 0
    for n in range(10_000):
        assert guard.refusal(f"{SITE}/{n}?once") is None
        if n % 10 == 0:
            refused += guard.refusal(f"{SITE}/often?{n}") == "trap_query"

    assert refused == 1000 - 50
    assert len(guard._queries) <= 100


@pytest.mark.parametrize(
    "option",
    [
        "max_pages_per_host",
        "max_segments",
        "max_repeats",
        "max_dates",
        "max_query_variants",
        "max_chain",
        "most_counted",
    ],
)
def test_a_bad_limit_is_refused(option):
    with pytest.raises(ValueError, match=f"{option} must be"):
        TrapGuard(**{option: 0})


def test_a_generated_site_is_never_refused():
    guard = TrapGuard(max_pages_per_host=20_000)
    paths = generated_site(pages=20_000, links=2, size=0)

    assert set(reasons(guard, paths)) == {None}


def test_a_blog_of_ten_years_is_never_refused():
    guard = TrapGuard()
    posts = (f"/{day:%Y/%m/%d}/post-{day:%Y}-{day:%j}-{n}/" for day in days(3650) for n in range(3))
    archives = {f"/{day:%Y/%m}/" for day in days(3650)} | {f"/{day:%Y}/" for day in days(3650)}
    lists = [f"/page/{n}/" for n in range(1000)] + [f"/?p={n}" for n in range(5000)]
    files = (f"/wp-content/uploads/{day:%Y/%m}/photo-{day:%d}.jpg" for day in days(3650))

    assert set(reasons(guard, itertools.chain(posts, archives, lists, files))) == {None}


@settings(max_examples=50)
@given(
    st.lists(
        st.lists(
            st.sampled_from(["shop", "en", "shoes", "red", "2024", "05", "17", "a-1"]), max_size=6
        ),
        unique_by=tuple,
        max_size=100,
    )
)
def test_an_ordinary_site_is_never_refused(paths):
    guard = TrapGuard()

    for segments in paths:
        if all(segments.count(segment) < 3 for segment in segments):
            assert guard.refusal(f"{SITE}/{'/'.join(segments)}") is None


@given(st.text(max_size=60))
def test_any_url_gets_an_answer(text):
    guard = TrapGuard(max_pages_per_host=5)

    assert guard.refusal(canonicalize(f"{SITE}/{text}")) in {None, "trap_repeat", "trap_depth"}


def test_hostile_urls_cost_little():
    guard = TrapGuard(max_segments=10**9)
    alternating = "".join(f"/{n % 2}/{n}" for n in range(500))
    hostile = ("/a/b" * 500, alternating, "/?" + "2020-" * 500, "/" * 2000)

    assert takes_at_most(2, lambda: [guard.refusal(SITE + path) for path in hostile])


def test_an_ordinary_url_costs_little():
    urls = [f"{SITE}/some/section/page-{n}.html" for n in range(5_000)]

    def ask():
        guard = TrapGuard()
        for url in urls:
            guard.refusal(url)

    assert takes_at_most(100e-6 * len(urls), ask)


@pytest.mark.parametrize("max_pages_per_host", [None, 5])
def test_what_an_earlier_run_stored_may_be_no_url(max_pages_per_host):
    """A job directory can have rows that no crawl of ours has written."""
    guard = TrapGuard(max_pages_per_host=max_pages_per_host)

    guard.count("")
    guard.count("no url")


PARTS = ["day", "2031-05-17", "1999/12", "20260101", "?a=2", "&month=5", "%2F05", "/", "2024", "-7"]
IDS = ["0a1b2c3d4e5f", "ffff0000aaaa1111", "123456789012", "averyveryverylongwordindeed"]
stored_urls = st.builds(
    lambda host, parts: f"http://{host}.example/{''.join(parts)}",
    st.sampled_from("abc"),
    st.lists(st.sampled_from(PARTS + IDS), max_size=5),
)
stored_rows = st.lists(
    st.tuples(stored_urls, st.integers(0, 4), st.none() | stored_urls), max_size=30
)


def state(guard):
    """Return all that *guard* has counted."""
    chains = guard._chains
    numbers = (guard._dates, guard._queries, chains._first_depths, chains._variants)
    counted = [dict(each._old) | each._young for each in numbers]
    return *counted, guard._hosts._hosts, guard._hosts._numbers, guard._pages


def in_sql(expression, url):
    with closing(sqlite3.connect(":memory:")) as database:
        (value,) = database.execute(
            f"SELECT {expression} FROM (SELECT ? AS url)", (url,)
        ).fetchone()
        return value


@given(stored_rows, st.sampled_from([None, 2]), st.integers(1, 5))
def test_many_urls_are_counted_at_once_as_they_are_one_by_one(rows, max_pages, size):
    one_by_one, at_once = (TrapGuard(max_pages, max_chain=200) for _ in range(2))

    for row in rows:
        one_by_one.count(*row)
    at_once.count_all(
        UrlGroup.of(rows[place : place + size]) for place in range(0, len(rows), size)
    )

    assert state(at_once) == state(one_by_one)


def test_urls_on_any_number_of_hosts_are_counted_at_once(monkeypatch):
    monkeypatch.setattr(traps, "_MOST_STARTS", 3)
    one_by_one, at_once = TrapGuard(5), TrapGuard(5)
    rows = [(f"http://h{n % 10}.example.org/{n}", 0, None) for n in range(40)]

    for row in rows:
        one_by_one.count(*row)
    at_once.count_all([UrlGroup.of(rows[:20]), UrlGroup.of(rows[20:])])

    assert state(at_once) == state(one_by_one)


@given(st.text("012389-/_.%&?2Fa=x", max_size=20))
def test_every_url_with_a_date_or_a_query_has_a_form(text):
    counts = "?" in text or traps._DATE.search(text) is not None

    assert in_sql(HAS_FORM, text) or not counts
