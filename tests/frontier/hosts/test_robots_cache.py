import pytest

from crawler.data import BODY_PREFIX, Request, Response
from crawler.errors import DownloadError, FetchError
from crawler.frontier.hosts import robots_cache as cache_module
from crawler.frontier.hosts.host import Host
from crawler.frontier.hosts.politeness import Politeness
from crawler.frontier.hosts.robots_cache import RobotsCache, RobotsFacts
from crawler.headers import Headers
from crawler.http.robots_txt import MAX_BYTES
from crawler.testing import Reply, Site

from ..sites import after, page

ORIGIN = "http://site.test"
HOME = f"{ORIGIN}/"
DAY = 86400.0
CLOSED = b"User-agent: *\nDisallow: /"
OPEN = b"User-agent: *\nDisallow: /no"


@pytest.fixture
def cache():
    return RobotsCache("crawler", Politeness(), on_answer=list)


def ask(cache, origin=ORIGIN):
    return cache.ask(Host("site.test"), origin, Request(f"{origin}/first", depth=3, found_on="x"))


def reply(question, status=200, body=b"", **headers):
    return Response(question.url, status, Headers(headers), body, question)


def trouble(question, kind="connect"):
    return DownloadError("D1", question, "no", kind)


def answer(cache, *, now=0.0, origin=ORIGIN, status=200, body=b"", error=None):
    """Ask *origin* and let it answer at once."""
    question = ask(cache, origin)
    result = trouble(question, error) if error else reply(question, status, body)
    assert cache.answered(question, result, now) is None
    return cache.close(question)


def allows(cache, url=HOME, now=1.0):
    rules = cache.rules(ORIGIN, now)
    return None if rules is None else rules.allowed(cache.agent, url)


def test_an_origin_must_be_asked_before_anything_is_known_of_it(cache):
    assert cache.rules(ORIGIN, 0.0) is None

    question = ask(cache)

    assert question.url == f"{ORIGIN}/robots.txt"
    assert (question.depth, question.found_on) == (3, "x")
    assert cache.is_question(question)
    assert not cache.is_question(Request(question.url))
    assert cache.rules(ORIGIN, 0.0) is None


def test_a_question_is_one_until_it_is_closed(cache):
    question = ask(cache)

    closed = cache.close(question)

    assert (closed.host.name, closed.origin) == ("site.test", ORIGIN)
    assert not cache.is_question(question)


@pytest.mark.parametrize("status", [200, 204, 299])
def test_what_is_there_is_obeyed(cache, status):
    answer(cache, status=status, body=CLOSED)

    assert allows(cache) is False


@pytest.mark.parametrize("status", [300, 304, 400, 401, 403, 404, 410, 451])
def test_what_is_not_there_allows_everything(cache, status):
    answer(cache, status=status, body=CLOSED)

    assert allows(cache) is True


@pytest.mark.parametrize("status", [429, 500, 502, 503, 599])
def test_an_origin_that_cannot_say_leaves_nothing_known(cache, status):
    answer(cache, status=status, body=OPEN)

    assert cache.rules(ORIGIN, 1.0) is None


@pytest.mark.parametrize("kind", ["dns", "connect", "timeout", "truncated", "too_large"])
def test_nor_does_one_that_cannot_be_reached(cache, kind):
    answer(cache, error=kind)

    assert cache.rules(ORIGIN, 1.0) is None


def test_an_answer_holds_for_a_day(cache):
    answer(cache, body=OPEN, now=1000.0)

    assert allows(cache, now=1000.0 + DAY - 1) is True
    assert cache.rules(ORIGIN, 1000.0 + DAY) is None


def test_an_answer_of_an_earlier_process_holds_no_longer(cache):
    cache.recall(RobotsFacts(ORIGIN, 1000 * DAY, OPEN), now=0.0)

    assert allows(cache, now=DAY - 1) is True
    assert cache.rules(ORIGIN, DAY) is None


def test_of_a_file_500_kib_count_and_are_stored(cache):
    stored = []
    cache = RobotsCache("crawler", Politeness(), on_answer=stored.append)

    answer(cache, body=OPEN + b"\n#" + b"x" * 600_000)

    assert allows(cache, f"{HOME}no") is False
    assert len(stored[0].body) == MAX_BYTES + 1


def test_patterns_that_are_ignored_are_logged_once(cache, caplog):
    rules = b"".join(b"\nDisallow: /*%d" % n for n in range(1005))

    answer(cache, body=b"User-agent: *" + rules)
    for n in range(10):
        allows(cache, f"{HOME}{n}")

    [message] = caplog.messages
    assert message.startswith(f"{ORIGIN}/robots.txt has more than 1000 patterns")
    assert "the last 5 are ignored" in message


def test_only_the_start_of_a_file_is_asked_for(cache):
    assert ask(cache).meta[BODY_PREFIX] == MAX_BYTES + 1


def test_a_new_answer_takes_the_place_of_an_old_one(cache):
    answer(cache, body=OPEN, now=0.0)

    answer(cache, body=CLOSED, now=DAY)

    assert allows(cache, now=DAY + 1) is False
    assert allows(cache, now=2 * DAY - 1) is False
    assert cache.rules(ORIGIN, 2 * DAY) is None


@pytest.mark.parametrize("silence", [{"status": 503}, {"status": 429}, {"error": "timeout"}])
def test_an_old_answer_goes_on_holding_while_there_is_no_new_one(cache, silence):
    answer(cache, body=CLOSED, now=0.0)

    for n in range(5):
        now = DAY + n * 600
        assert cache.rules(ORIGIN, now) is None, "it is asked again each time"
        answer(cache, now=now, **silence)
        assert allows(cache, now=now + 1) is False


def test_a_file_that_has_gone_ends_an_old_answer(cache):
    answer(cache, body=CLOSED, now=0.0)

    answer(cache, status=404, now=DAY)

    assert allows(cache, now=DAY + 1) is True


def test_origins_are_apart(cache):
    answer(cache, body=CLOSED)
    answer(cache, origin="https://site.test", body=OPEN)
    answer(cache, origin="http://site.test:8080", status=404)

    assert allows(cache) is False
    assert cache.rules("https://site.test", 1.0).allowed("crawler", "https://site.test/")
    assert cache.rules("http://site.test:8080", 1.0).allowed("crawler", "http://site.test:8080/no")


def hops(cache, question, *locations):
    """Let each question be sent on to the next of *locations*."""
    for location in locations:
        question = cache.answered(question, reply(question, 301, location=location), now=0.0)
    return question


def test_a_hop_is_the_same_question_elsewhere(cache):
    question = ask(cache)

    hop = hops(cache, question, "https://other.test/rules")

    assert (hop.id, hop.url) == (question.id, "https://other.test/rules")
    assert cache.is_question(hop)
    assert cache.rules(ORIGIN, 1.0) is None
    cache.answered(hop, reply(hop, body=CLOSED), now=0.0)
    assert allows(cache) is False, "the answer is for who asked"
    assert cache.rules("https://other.test", 1.0) is None


def test_five_hops_are_followed_and_the_sixth_is_a_file_that_is_not_there(cache):
    fifth = hops(cache, ask(cache), "/1", "/2", "/3", "/4", "/5")
    assert fifth.url == f"{ORIGIN}/5"

    assert hops(cache, fifth, "/6") is None

    assert allows(cache) is True


def test_the_end_of_five_hops_counts(cache):
    fifth = hops(cache, ask(cache), "/1", "/2", "/3", "/4", "/5")

    cache.answered(fifth, reply(fifth, body=CLOSED), now=0.0)

    assert allows(cache) is False


def test_a_loop_is_a_file_that_is_not_there(cache):
    assert hops(cache, ask(cache), *["/robots.txt"] * 6) is None

    assert allows(cache) is True


@pytest.mark.parametrize(
    "nowhere", ["ftp://site.test/robots.txt", "file:///etc/passwd", "javascript:1", "http://["]
)
def test_a_hop_to_where_we_do_not_go_is_a_file_that_is_not_there(cache, nowhere):
    assert hops(cache, ask(cache), nowhere) is None

    assert allows(cache) is True


def test_a_redirect_without_a_place_to_go_to_is_one_too(cache):
    question = ask(cache)

    assert cache.answered(question, reply(question, 302), now=0.0) is None

    assert allows(cache) is True


@pytest.mark.parametrize("after_hop", [503, 429])
def test_trouble_at_the_end_of_a_hop_is_trouble(cache, after_hop):
    hop = hops(cache, ask(cache), "http://other.test/robots.txt")

    cache.answered(hop, reply(hop, after_hop), now=0.0)

    assert cache.rules(ORIGIN, 1.0) is None


def test_the_memory_of_answers_is_bounded_and_the_oldest_goes_first(cache, monkeypatch):
    monkeypatch.setattr(cache_module, "_MOST_BYTES", 10_000)
    origins = [f"http://site-{n}.test" for n in range(100)]

    for origin in origins:
        answer(cache, origin=origin, body=OPEN + b"\n# " + b"x" * 1000)

    known = [origin for origin in origins if cache.rules(origin, 1.0) is not None]
    assert known == origins[-9:]


def test_one_large_file_does_not_push_out_more_than_it_takes(cache, monkeypatch):
    monkeypatch.setattr(cache_module, "_MOST_BYTES", 10_000)
    for n in range(20):
        answer(cache, origin=f"http://small-{n}.test", status=404)

    for now in range(50):
        answer(cache, body=CLOSED + b"\n#" + b"x" * 4000, now=now)

    assert allows(cache) is False
    small = [cache.rules(f"http://small-{n}.test", 1.0) for n in range(20)]
    assert 15 <= sum(rules is not None for rules in small) <= 20, "asked again, it counts once"


# -- robots.txt in a crawl --------------------------------------------------------------------


class TestCrawls:
    def test_robots_txt_is_the_first_fetch_and_is_asked_for_once(self, crawl):
        site = Site({"/": page("/a", "/b"), "/a": page("/b"), "/b": page()})

        crawl(site.url("/"), fetch=site)

        assert [r.url.removeprefix(site.base) for r in site.requests][:2] == ["/robots.txt", "/"]
        assert [r.url for r in site.requests].count(site.url("/robots.txt")) == 1

    def test_what_it_disallows_is_refused_and_counted(self, crawl):
        site = Site(
            {
                "/robots.txt": "User-agent: *\nDisallow: /private",
                "/": page("/private/1", "/private/2", "/open"),
                "/open": page(),
            }
        )

        summary, _ = crawl(site.url("/"), fetch=site)

        assert summary.urls.refused == {"robots": 2}
        assert summary.urls.done == 2

    def test_our_product_token_has_a_group_of_its_own(self, crawl):
        site = Site(
            {
                "/robots.txt": "User-agent: *\nAllow: /\n\nUser-agent: Crawler/9\nDisallow: /",
                "/": page(),
            }
        )

        summary, _ = crawl(site.url("/"), fetch=site)

        assert summary.urls.refused == {"robots": 1}

    @pytest.mark.parametrize("status", [400, 401, 403, 404, 410])
    def test_a_file_that_is_not_there_allows_everything(self, crawl, status):
        site = Site({"/robots.txt": Reply(status), "/": page()})

        assert crawl(site.url("/"), fetch=site)[0].urls.done == 1

    @pytest.mark.parametrize(
        "trouble", [Reply(503), Reply(500), Reply(429), FetchError("connect", "no")]
    )
    def test_a_host_that_cannot_say_is_deferred_and_resumed(self, crawl, trouble):
        def flaky(request):
            answer = answers(request)
            if isinstance(answer, Exception):
                raise answer
            return answer

        answers = after(2, trouble, Reply(body="User-agent: *\nDisallow: /no"))
        site = Site({"/robots.txt": flaky, "/": page("/no", "/yes"), "/yes": page()})

        summary, errors = crawl(site.url("/"), fetch=site)

        assert [r.url.removeprefix(site.base) for r in site.requests][:4] == ["/robots.txt"] * 3 + [
            "/"
        ]
        assert summary.urls.done == 2
        assert summary.urls.refused == {"robots": 1}
        assert not errors

    def test_a_host_that_never_says_is_given_up_with_a_record_for_each_url(self, crawl):
        site = Site({"/robots.txt": Reply(500), "/": page()})

        summary, _ = crawl([site.url(f"/{n}") for n in range(5)], fetch=site, give_up_after=3)

        assert summary.urls.failed == {"host": 5}
        assert len(site.requests) == 3

    def test_redirects_of_robots_txt_are_followed_across_hosts(self, crawl):
        site = Site(
            {
                "/robots.txt": Reply(301, {"Location": "http://other.test/robots.txt"}),
                "http://other.test/robots.txt": Reply(301, {"Location": "/rules"}),
                "http://other.test/rules": "User-agent: *\nDisallow: /no",
                "/": page("/no"),
            }
        )

        summary, _ = crawl(site.url("/"), fetch=site)

        assert summary.urls.refused == {"robots": 1}

    def test_a_redirect_to_https_on_the_same_host_does_not_lock_the_host(self, crawl):
        site = Site(
            {
                "/robots.txt": Reply(301, {"Location": "https://site.test/robots.txt"}),
                "https://site.test/robots.txt": "User-agent: *\nDisallow: /no",
                "/": page("/no"),
            }
        )

        summary, _ = crawl(site.url("/"), fetch=site)

        assert summary.urls.refused == {"robots": 1}

    def test_two_hosts_whose_robots_point_at_each_other_do_not_lock_each_other(self, crawl):
        site = Site(
            {
                "http://a.test/robots.txt": Reply(302, {"Location": "http://b.test/robots.txt"}),
                "http://b.test/robots.txt": Reply(302, {"Location": "http://a.test/robots.txt"}),
                "http://a.test/": page(),
                "http://b.test/": page(),
            }
        )

        summary, _ = crawl(["http://a.test/", "http://b.test/"], fetch=site)

        assert summary.urls.done == 2, "more than five hops is a file that is not there"

    def test_two_origins_of_one_host_have_rules_of_their_own(self, crawl):
        site = Site(
            {
                "http://site.test/robots.txt": "User-agent: *\nDisallow: /a",
                "http://site.test:81/robots.txt": "User-agent: *\nDisallow: /b",
                "http://site.test/a": page(),
                "http://site.test/b": page(),
                "http://site.test:81/a": page(),
                "http://site.test:81/b": page(),
            }
        )

        summary, _ = crawl([u for u in site.pages if not u.endswith("txt")], fetch=site)

        assert {r.url for r in site.requests if r.url[-1] in "ab"} == {
            "http://site.test/b",
            "http://site.test:81/a",
        }
        assert summary.urls.refused == {"robots": 2}

    def test_robots_txt_is_not_asked_for_when_that_is_off(self, crawl):
        site = Site({"/": page()})

        crawl(site.url("/"), fetch=site, robots=False)

        assert [r.url for r in site.requests] == [site.url("/")]


def test_a_user_agent_of_ones_own_has_its_own_rules():
    from crawler.settings import Settings

    args = Settings.load(code={"user_agent": "Magpie/2.0 (+mail)"}).request_args()

    assert args.agent == "Magpie"
    assert Settings.load().request_args().agent == "crawler"
