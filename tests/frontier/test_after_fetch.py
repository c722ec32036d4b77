import pytest

from crawler.data import Request, Response
from crawler.errors import DownloadError, Refusal, Retry
from crawler.frontier import (
    ExactSeen,
    Fingerprint,
    Next,
    Politeness,
    Retries,
    Scope,
    TrapGuard,
    failed,
    refused,
)
from crawler.frontier.admission.admission import Admission
from crawler.frontier.after_fetch import AfterFetch, Hop, RetryLater
from crawler.testing import Reply, Site

from .sites import page

PAGE = Request("http://a.test/")


@pytest.fixture
def admission():
    scope = Scope(accepted_domains=["a.test", "dead.test"])
    return Admission(scope, ExactSeen(), TrapGuard(), Fingerprint())


@pytest.fixture
def after_fetch(admission):
    politeness = Politeness(jitter=0.0)
    retries = Retries(attempts=3, wait=1.0)
    return AfterFetch(
        admission, retries, politeness, lambda url: url.startswith("http://dead.test/")
    )


def answer(status, request=PAGE, **headers):
    return Response(request.url, status, headers, request=request)


def error(kind, cause=None):
    failure = DownloadError("D1", PAGE, kind, kind)
    failure.__cause__ = cause
    return failure


def test_a_page_is_analysed_whatever_its_status(after_fetch):
    for status in (200, 304, 404, 501):
        assert after_fetch.decide(PAGE, answer(status), is_last=False) is Next.ANALYZE


def test_each_try_waits_longer_until_there_were_enough(after_fetch):
    first = after_fetch.decide(PAGE, error("timeout"), is_last=False)
    second = after_fetch.decide(first.request, answer(500), is_last=False)

    assert isinstance(first, RetryLater)
    assert second.request.attempts == ("timeout", "status 500")
    assert second.wait > first.wait
    assert after_fetch.decide(second.request, error("dns"), is_last=False) == failed("dns")
    assert after_fetch.decide(second.request, answer(500), is_last=False) is Next.ANALYZE


def test_there_is_no_other_try_when_the_host_is_given_up_or_nothing_more_is_let_in(
    after_fetch, admission
):
    assert after_fetch.decide(PAGE, error("timeout"), is_last=True) == failed("timeout")

    admission.shut = "time_limit"

    assert after_fetch.decide(PAGE, error("timeout"), is_last=False) == failed("timeout")


def test_a_middleware_may_ask_for_a_longer_wait_or_refuse(after_fetch):
    later = after_fetch.decide(PAGE, error("x", Retry("soon", delay=90.0)), is_last=False)

    assert later.wait == 90.0
    assert after_fetch.decide(PAGE, error("x", Refusal("robots")), is_last=False) == refused(
        "robots"
    )


def test_a_hop_has_all_its_attempts_before_it(after_fetch):
    tried = PAGE.replace(attempts=("timeout",))

    hop = after_fetch.decide(tried, answer(302, tried, location="/new"), is_last=False)

    assert isinstance(hop, Hop)
    assert (hop.request.url, hop.request.attempts) == ("http://a.test/new", ())
    assert hop.request.redirects == ("http://a.test/",)
    assert after_fetch.moved == {}


def test_a_hop_leads_to_no_host_that_was_given_up_and_to_no_other_scope(after_fetch):
    dead = answer(301, location="http://dead.test/")
    other = answer(301, location="http://other.test/")

    assert after_fetch.decide(PAGE, dead, is_last=False) == failed("host")
    assert after_fetch.decide(PAGE, other, is_last=False) == refused("domain")
    assert after_fetch.moved == {}


def test_a_page_that_has_gone_for_good_is_remembered(after_fetch):
    after_fetch.decide(PAGE, answer(301, location="/new"), is_last=False)

    assert after_fetch.moved == {"http://a.test/": "http://a.test/new"}


def test_pages_that_have_moved_for_good_are_recorded(crawl):
    pages = {"/": page("/old", "/away"), "/old": Reply(301, {"Location": "/new"}), "/new": page()}
    site = Site(pages | {"/away": Reply(302, {"Location": "/for-now"}), "/for-now": page()})

    summary, _ = crawl(site.url("/"), fetch=site, robots=False)

    assert summary.moved == 1
