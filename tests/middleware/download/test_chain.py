"""The chain of download middlewares, and their contract."""

from time import monotonic

import pytest

from crawler import FetchError, Request, Response
from crawler.errors import DownloadError, Refusal, Retry, TimeLimit
from crawler.middleware import DownloadMiddleware, MiddlewareError, Middlewares
from crawler.testing import Reply, Site

HOME = "http://site.test/"


class Named(DownloadMiddleware):
    """Records its calls; hooks can be given by name."""

    def __init__(self, name, asked, priority=0, **hooks):
        self.name = name
        self.asked = asked
        self.priority = priority
        self.hooks = hooks

    def before_download(self, request):
        return self._hook("before", request)

    def after_download(self, response):
        return self._hook("after", response)

    def on_failure(self, request, error):
        self.asked.append(f"{self.name} failure")
        hook = self.hooks.get("failure")
        return hook and hook(request, error)

    def close(self):
        self.asked.append(f"{self.name} close")
        self.hooks.get("close", bool)()

    def _hook(self, when, datum):
        self.asked.append(f"{self.name} {when}")
        return self.hooks.get(when, lambda datum: datum)(datum)


@pytest.fixture
def asked():
    return []


@pytest.fixture
def named(asked):
    return lambda name, *args, **hooks: Named(name, asked, *args, **hooks)


def fetching(asked, response=None):
    def fetch(request):
        asked.append("fetch")
        return response or Response(request.url, 200, request=request)

    return fetch


def raising(error):
    def hook(*_):
        raise error

    return hook


# -- order ------------------------------------------------------------------------------------


def test_before_goes_in_the_order_of_the_list_and_after_comes_back(named, asked):
    chain = Middlewares(fetching(asked), [named("a"), named("b"), named("c")])

    chain(Request(HOME))

    assert asked == [
        *("a before", "b before", "c before", "fetch"),
        *("c after", "b after", "a after"),
    ]


def test_more_priority_is_nearer_to_the_scheduler_and_equals_keep_their_order(named, asked):
    chain = Middlewares(
        fetching(asked), [named("low", -5), named("x"), named("high", 10), named("y")]
    )

    chain(Request(HOME))

    assert asked[:4] == ["high before", "x before", "y before", "low before"]
    assert asked[5:] == ["low after", "y after", "x after", "high after"]


def test_a_chain_of_none_is_its_fetch():
    site = Site({"/": "home"})

    assert Middlewares(site, [])(Request(HOME)).body == b"home"


@pytest.mark.parametrize("wrong", ["crawler.Cookies", DownloadMiddleware, None, object()])
def test_only_middlewares_make_a_chain(wrong):
    with pytest.raises(ValueError, match="a download middleware is an instance"):
        Middlewares(Site({}), [wrong])


def test_the_chain_is_shown_in_order(named):
    chain = Middlewares(len, [DownloadMiddleware(), named("a", 1)])

    assert repr(chain).startswith("<Middlewares Named → DownloadMiddleware → ")


# -- change -----------------------------------------------------------------------------------


def test_a_changed_request_is_what_the_next_one_and_the_fetch_see(named):
    site = Site({"/": "home"})
    seen = []
    adds = named("a", before=lambda request: request.replace(headers={"X-A": "1"}))
    looks = named("b", before=lambda request: seen.append(request.headers) or request)

    Middlewares(site, [adds, looks])(Request(HOME))

    assert dict(seen[0]) == {"X-A": "1"}
    assert dict(site.requests[0].headers) == {"X-A": "1"}


def test_a_changed_response_is_what_goes_on(named):
    upper = named("a", after=lambda response: response.replace(body=response.body.upper()))
    marks = named("b", after=lambda response: response.replace(body=response.body + b"!"))

    assert Middlewares(Site({"/": "home"}), [upper, marks])(Request(HOME)).body == b"HOME!"


def test_after_hooks_see_what_was_sent_and_parsers_what_was_asked(named, crawl):
    sent, parsed = [], []
    secret = named(
        "secret",
        before=lambda request: request.replace(
            headers={"Authorization": "s"}, cookies={"c": "s"}, proxy="http://u:s@p.test"
        ),
        after=lambda response: sent.append(response.request) or response,
    )

    crawl(HOME, Site({"/": "home"}), secret, parse=lambda page: parsed.append(page.request))

    assert sent[0].headers["authorization"] == "s"
    assert sent[0].id == parsed[0].id
    assert not parsed[0].headers
    assert not parsed[0].cookies
    assert parsed[0].proxy is None


# -- answer -----------------------------------------------------------------------------------


def test_an_answer_instead_of_a_fetch_passes_its_own_and_the_outer_after_hooks(named, asked):
    answers = named("b", before=lambda request: Response(request.url, 203, body="ready"))
    chain = Middlewares(fetching(asked), [named("a"), answers, named("c")])
    request = Request(HOME)

    response = chain(request)

    assert asked == ["a before", "b before", "b after", "a after"]
    assert (response.status, response.body) == (203, b"ready")
    assert response.request is request


def test_outer_after_hooks_see_an_answer_with_the_request_it_was_given_for(named):
    seen = []
    adds = named(
        "a",
        before=lambda request: request.replace(meta={"session": "one"}),
        after=lambda response: seen.append(response.request.meta["session"]) or response,
    )
    answers = named("b", before=lambda request: Response(request.url, 200))

    Middlewares(Site({}), [adds, answers])(Request(HOME))

    assert seen == ["one"]


def test_a_cached_answer_does_not_make_its_host_wait(crawl, named):
    answers = named("a", before=lambda r: Response(r.url, 200, flags=frozenset({"cached"})))
    pages = [f"{HOME}{n}" for n in range(10)]

    summary, _ = crawl(pages, Site({}), answers, delay=3600.0, jitter=0.0)

    assert summary.urls.done == 10


# -- refuse -----------------------------------------------------------------------------------


@pytest.mark.parametrize("hook", ["before", "after"])
def test_a_refusal_settles_the_request_as_refused_with_its_reason(crawl, named, hook):
    site = Site({"/": "home"})

    summary, errors = crawl(HOME, site, named("a", **{hook: raising(Refusal("unwanted"))}))

    assert summary.urls.refused == {"unwanted": 1}
    assert not summary.urls.failed
    assert not errors
    assert len(site.requests) == (hook == "after")


def test_a_refusal_on_failure_settles_the_request_too(crawl, named):
    site = Site({"/": FetchError("connect", "refused")})

    summary, _ = crawl(HOME, site, named("a", failure=raising(Refusal("gone"))))

    assert summary.urls.refused == {"gone": 1}


def test_a_refusal_passes_no_other_hook(named, asked):
    refuses = named("b", after=raising(Refusal("unwanted")))

    with pytest.raises(Refusal):
        Middlewares(fetching(asked), [named("a"), refuses])(Request(HOME))

    assert asked == ["a before", "b before", "fetch", "b after"]


# -- retry ------------------------------------------------------------------------------------


def test_a_retry_waits_as_long_as_it_says_and_counts_as_an_attempt(crawl, named):
    times, attempts = [], []

    def before(request):
        times.append(monotonic())
        attempts.append(request.attempts)
        if len(times) == 1:
            raise Retry("captcha", delay=0.3)
        return request

    summary, errors = crawl(HOME, Site({"/": "home"}), named("a", before=before))

    assert summary.urls.done == 1
    assert not errors
    assert times[1] - times[0] >= 0.3
    assert attempts == [(), ("Retry: captcha (again in 0.3 s)",)]


def test_a_request_retried_too_often_has_failed_for_that_reason(crawl, named):
    site = Site({"/": "home"})

    summary, [error] = crawl(HOME, site, named("a", after=raising(Retry("captcha"))), attempts=2)

    assert summary.urls.failed == {"captcha": 1}
    assert isinstance(error, DownloadError)
    assert len(site.requests) == 2


# -- add --------------------------------------------------------------------------------------


def test_requests_a_middleware_adds_are_fetched_as_found_on_the_page(crawl, named):
    site = Site({"/": "home", "/extra": "extra"})
    extra = Request(HOME + "extra")
    adds = named("a", after=lambda response: response.replace(found=(*response.found, extra)))

    summary, _ = crawl(HOME, site, adds)

    assert [request.url for request in site.requests] == [HOME, HOME + "extra"]
    assert site.requests[1].depth == 1
    assert site.requests[1].found_on == HOME
    assert summary.urls.done == 2


def test_added_requests_meet_scope_and_are_seen_once(crawl, named):
    site = Site({"/": "home", "/extra": "extra"})
    added = (Request(HOME + "extra"), Request("http://other.test/"))
    adds = named("a", after=lambda response: response.replace(found=added))

    summary, _ = crawl(HOME, site, adds)

    assert len(site.requests) == 2
    assert summary.urls.turned_away == {"domain": 2, "seen": 1}


# -- failure ----------------------------------------------------------------------------------


@pytest.mark.parametrize("hook", ["before", "after"])
def test_a_hook_that_fails_stops_the_chain_and_the_error_names_it(crawl, named, hook):
    broken = named("a", **{hook: raising(KeyError("token"))})

    summary, [error] = crawl(HOME, Site({"/": "home"}), broken)

    assert summary.urls.failed == {"download": 1}
    assert f"Named.{hook}_download: KeyError: 'token'" in str(error)
    assert isinstance(error.__cause__, MiddlewareError)
    assert isinstance(error.__cause__.__cause__, KeyError)


def test_a_failed_hook_is_no_failed_fetch(named, asked):
    broken = named("b", before=raising(ZeroDivisionError()))

    with pytest.raises(MiddlewareError, match=r"Named\.before_download: ZeroDivisionError"):
        Middlewares(fetching(asked), [named("a"), broken])(Request(HOME))

    assert asked == ["a before", "b before"]


@pytest.mark.parametrize(
    ("hooks", "message"),
    [
        ({"before": lambda request: None}, "Named.before_download returned None"),
        ({"before": lambda request: "http://x.test/"}, "Named.before_download returned 'http"),
        ({"after": lambda response: None}, "Named.after_download returned None"),
        ({"after": lambda response: response.request}, "Named.after_download returned Request"),
    ],
)
def test_a_hook_that_returns_something_else_is_named(named, hooks, message):
    with pytest.raises(MiddlewareError) as caught:
        Middlewares(Site({"/": "home"}), [named("a", **hooks)])(Request(HOME))

    assert message in str(caught.value)


def test_a_fallback_that_returns_something_else_is_named(named):
    site = Site({"/": FetchError("connect", "refused")})

    with pytest.raises(MiddlewareError, match="on_failure returned 'page', not a Response or None"):
        Middlewares(site, [named("a", failure=lambda *_: "page")])(Request(HOME))


def test_a_fetch_that_returns_no_response_is_named():
    with pytest.raises(TypeError, match="returned None, not a Response"):
        Middlewares(lambda request: None, [])(Request(HOME))


def test_the_end_of_its_time_is_not_wrapped(named):
    with pytest.raises(TimeLimit):
        Middlewares(Site({}), [named("a", before=raising(TimeLimit(1)))])(Request(HOME))


# -- on_failure -------------------------------------------------------------------------------


def test_a_failure_is_told_from_the_inside_out_until_somebody_answers(named, asked):
    site = Site({"/": FetchError("connect", "refused")})
    answers = named("b", failure=lambda request, error: Response(request.url, 200, body="old"))
    chain = Middlewares(site, [named("a"), answers, named("c")])

    response = chain(Request(HOME))

    assert response.body == b"old"
    assert asked[3:] == ["c failure", "b failure", "b after", "a after"]


def test_a_failure_nobody_answers_is_the_failure_it_was(named):
    failure = FetchError("timeout", "too slow")

    with pytest.raises(FetchError) as caught:
        Middlewares(Site({"/": failure}), [named("a"), named("b")])(Request(HOME))

    assert caught.value is failure


def test_a_middleware_may_fail_as_a_fetch_does(crawl, named, asked):
    fails = named("b", before=raising(FetchError("blocked_address", "not there")))

    summary, _ = crawl(HOME, Site({}), named("a"), fails)

    assert summary.urls.failed == {"blocked_address": 1}
    assert asked == ["a before", "b before", "a failure"]


def test_refusals_and_retries_are_no_failures(named, asked):
    chain = Middlewares(Site({}), [named("a"), named("b", before=raising(Retry("later")))])

    with pytest.raises(Retry):
        chain(Request(HOME))

    assert "a failure" not in asked


def test_on_failure_sees_the_request_as_that_middleware_made_it(named):
    seen = []
    marks = named(
        "a",
        before=lambda request: request.replace(meta={"mark": 1}),
        failure=lambda request, error: seen.append(request.meta["mark"]),
    )

    with pytest.raises(FetchError):
        Middlewares(Site({"/": FetchError("dns", "no")}), [marks, named("b")])(Request(HOME))

    assert seen == [1]


# -- redirects and the end --------------------------------------------------------------------


def test_every_hop_of_a_redirect_passes_the_chain(crawl, named, asked):
    site = Site({"/": Reply(302, {"location": "/next"}), "/next": "there"})

    summary, _ = crawl(HOME, site, named("a"))

    assert summary.urls.done == 1
    assert asked == ["a before", "a after"] * 2


def test_all_are_closed_from_the_inside_out_even_if_one_fails(named, asked, caplog):
    broken = named("b", close=raising(OSError("disk")))

    Middlewares(Site({}), [named("a"), broken, named("c")]).close()

    assert asked == ["c close", "b close", "a close"]
    assert "Named failed to close" in caplog.text


class Again(DownloadMiddleware):
    """Asks for the same page again, up to *times*, at *url* if one is given."""

    def __init__(self, times, url=None):
        self.times, self.url = times, url

    def after_download(self, response):
        if not self.times:
            return response
        self.times -= 1
        request = response.request
        return request.replace(headers={"again": "yes"}, url=self.url or request.url)


def test_a_request_after_the_download_is_sent_at_once_and_the_hook_gets_its_response():
    site = Site({"/": lambda request: request.headers.get("again", "no")})
    first = Request("http://site.test/")

    response = Middlewares(site, [Again(1)])(first)

    assert (response.text, len(site.requests)) == ("yes", 2)
    assert response.request is first


@pytest.mark.parametrize(("times", "url"), [(2, None), (1, "http://other.test/")])
def test_it_is_sent_once_and_to_no_other_origin(times, url):
    site = Site({"/": "x", "http://other.test/": "y"})

    with pytest.raises(MiddlewareError, match="not a Response, or once a Request"):
        Middlewares(site, [Again(times, url)])(Request("http://site.test/"))
    assert {request.url for request in site.requests} == {"http://site.test/"}
