import pytest

from crawler import CurlFetch, FetchError, Request, Response
from crawler.errors import Retry
from crawler.fetch import any_address
from crawler.middleware import DefaultProxy, Middlewares, ProxyPool

HOME = "http://site.test/"
A, B, C = "http://a.test:1", "http://user:s3cret@b.test:2", "socks5h://c.test:3"


@pytest.fixture
def pool(clock):
    return lambda *proxies, **options: ProxyPool(proxies, clock=clock, **options)


def taken(pool, **request):
    return pool.before_download(Request(HOME, **request)).proxy


def fail(pool, proxy, kind="proxy"):
    pool.on_failure(Request(HOME, proxy=proxy), FetchError(kind, "no"))


def succeed(pool, proxy, flags=()):
    request = Request(HOME, proxy=proxy)
    pool.after_download(Response(HOME, 200, request=request, flags=frozenset(flags)))


def paused_for(pool):
    """Return the seconds to wait that a pool without a free proxy asks for."""
    with pytest.raises(Retry) as caught:
        taken(pool)
    assert caught.value.reason == "no_proxy"
    return caught.value.delay


def test_proxies_take_turns(pool):
    one = pool(A, B, C)

    assert [taken(one) for _ in range(7)] == [A, B, C, A, B, C, A]


def test_a_proxy_given_by_hand_stays(pool):
    assert taken(pool(A), proxy="http://own.test") == "http://own.test"


@pytest.mark.parametrize("kind", ["proxy", "connect"])
def test_one_that_fails_is_left_out_until_its_pause_is_over(pool, clock, kind):
    one = pool(A, B, pause=10)
    fail(one, A, kind)
    assert {taken(one) for _ in range(4)} == {B}

    clock.sleep(10)

    assert {taken(one) for _ in range(4)} == {A, B}


def test_pauses_grow_up_to_a_limit_and_success_ends_them(pool, clock):
    one = pool(A, pause=10, max_pause=35)
    pauses = []
    for _ in range(4):
        fail(one, A)
        pauses.append(paused_for(one))
        clock.sleep(pauses[-1])
    succeed(one, A)
    fail(one, A)

    assert pauses == [10, 20, 35, 35]
    assert paused_for(one) == 10


def test_a_thousand_failures_are_still_a_pause(pool, clock):
    one = pool(A)
    for _ in range(1000):
        fail(one, A)
        clock.sleep(3600)

    assert taken(one) == A


def test_failures_of_what_was_under_way_count_once(pool):
    one = pool(A, pause=10)
    for _ in range(30):
        fail(one, A)

    assert paused_for(one) == 10


def test_timeouts_bench_only_three_in_a_row(pool):
    one = pool(A)
    fail(one, A, "timeout")
    fail(one, A, "timeout")
    succeed(one, A)
    fail(one, A, "timeout")
    fail(one, A, "timeout")
    assert taken(one) == A

    fail(one, A, "timeout")

    assert paused_for(one) == 10


@pytest.mark.parametrize("kind", ["tls", "too_large", "dns", "truncated", "bad_request"])
def test_faults_of_the_site_do_not_bench(pool, kind):
    one = pool(A)
    for _ in range(9):
        fail(one, A, kind)

    assert taken(one) == A


def test_an_answer_that_did_not_come_through_it_heals_nothing(pool):
    one = pool(A)
    fail(one, A)

    succeed(one, A, flags={"cached"})
    succeed(one, A, flags={"stale"})

    assert paused_for(one) == 10


def test_failures_of_other_proxies_are_none_of_its_own(pool):
    one = pool(A)
    fail(one, "http://other.test")
    fail(one, None)

    assert taken(one) == A


def test_with_all_paused_a_request_waits_for_the_first_that_is_back(pool, clock):
    one = pool(A, B, pause=10)
    fail(one, A)
    clock.sleep(4)
    fail(one, B)

    assert paused_for(one) == 6


def test_a_session_sticks_to_its_proxy(pool, clock):
    one = pool(A, B, C, sticky=True, pause=10)
    sessions = {f"s{n}": taken(one, meta={"session": f"s{n}"}) for n in range(50)}
    assert set(sessions.values()) == {A, B, C}
    for name, proxy in sessions.items():
        assert {taken(one, meta={"session": name}) for _ in range(3)} == {proxy}

    fail(one, A)
    moved = {name: taken(one, meta={"session": name}) for name in sessions}
    clock.sleep(10)

    assert all(moved[name] == proxy for name, proxy in sessions.items() if proxy != A)
    assert A not in moved.values()
    assert {name: taken(one, meta={"session": name}) for name in sessions} == sessions


def test_without_a_session_a_sticky_pool_takes_turns(pool):
    assert {taken(pool(A, B, sticky=True)), taken(pool(B, A, sticky=True))} == {A, B}


def test_passwords_are_not_shown(pool):
    one = pool(A, B)
    fail(one, A)

    assert repr(one) == "<ProxyPool http://a.test:1 (paused for 10 s), http://b.test:2>"
    with pytest.raises(ValueError) as caught:
        pool("ftp://user:s3cret@x.test")
    assert "s3cret" not in str(caught.value)
    with pytest.raises(ValueError) as caught:
        pool("user:s3cret@x.test:80")
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    "proxies", [[], "http://a.test", ["a.test:80"], ["http://"], ["http://a b"]]
)
def test_what_is_no_list_of_proxies_is_refused(proxies):
    with pytest.raises(ValueError):
        ProxyPool(proxies)


@pytest.mark.parametrize("pauses", [{"pause": 0}, {"pause": 5, "max_pause": 4}])
def test_what_is_no_pause_is_refused(pauses):
    with pytest.raises(ValueError):
        ProxyPool([A], **pauses)


def test_a_dead_proxy_costs_a_retry_and_no_page(serve, proxy, crawl):
    site, good = serve({"/": "<a href='/a'>a</a><a href='/b'>b</a>", "/a": "a", "/b": "b"}), proxy()
    pool = ProxyPool(["http://127.0.0.1:1", good.url("me:s3cret@")], pause=60)

    with CurlFetch(allow_address=any_address) as fetch:
        summary, errors = crawl(site.url(), fetch, pool)

    assert summary.urls.done == 3
    assert not errors
    assert len(good.heads) == 3
    assert "paused for" in repr(pool)


def test_with_every_proxy_dead_pages_wait_and_fail_by_name(crawl):
    pool = ProxyPool(["http://127.0.0.1:1"], pause=0.1)

    with CurlFetch(allow_address=any_address) as fetch:
        summary, _ = crawl(HOME, fetch, pool, attempts=2)

    assert sum(summary.urls.failed.values()) == 1
    assert set(summary.urls.failed) <= {"proxy", "no_proxy"}


def test_credentials_go_to_their_own_proxy_only(serve, proxy):
    site, one, two = serve({"/": "home"}), proxy(), proxy()
    pool = ProxyPool([one.url("one:first@"), two.url("two:second@")])

    with CurlFetch(allow_address=any_address) as fetch:
        chain = Middlewares(fetch, [pool])
        answers = [chain(Request(site.url())) for _ in range(4)]

    assert all(answer.request.proxy is None for answer in answers)
    assert len({_authorization(head) for head in one.heads}) == 1
    assert len({_authorization(head) for head in two.heads}) == 1
    assert _authorization(one.heads[0]) != _authorization(two.heads[0])
    assert not any("proxy-authorization" in hit.headers for hit in site.requests)


def _authorization(head):
    return head.partition("Proxy-Authorization: ")[2].partition("\r\n")[0]


def test_a_default_proxy_is_for_requests_without_one():
    one = DefaultProxy(B)

    assert (taken(one), taken(one, proxy=A)) == (B, A)
    assert repr(one) == "<DefaultProxy http://b.test:2>"
