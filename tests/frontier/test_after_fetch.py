import pytest

from crawler.data import Request, Response
from crawler.errors import DownloadError, Refusal, Retry
from crawler.frontier import ExactSeen, Next, Politeness, Retries, Scope, TrapGuard, failed, refused
from crawler.frontier.admission.admission import Door
from crawler.frontier.after_fetch import Hop, Later, Sequels

PAGE = Request("http://a.test/")


@pytest.fixture
def door():
    return Door(Scope(accepted_domains=["a.test", "dead.test"]), ExactSeen(), TrapGuard())


@pytest.fixture
def sequels(door):
    politeness = Politeness(jitter=0.0)
    retries = Retries(attempts=3, wait=1.0)
    return Sequels(door, retries, politeness, lambda url: url.startswith("http://dead.test/"))


def answer(status, request=PAGE, **headers):
    return Response(request.url, status, headers, request=request)


def error(kind, cause=None):
    failure = DownloadError("D1", PAGE, kind, kind)
    failure.__cause__ = cause
    return failure


def test_a_page_is_analysed_whatever_its_status(sequels):
    for status in (200, 304, 404, 501):
        assert sequels.after(PAGE, answer(status), is_last=False) is Next.ANALYZE


def test_each_try_waits_longer_until_there_were_enough(sequels):
    first = sequels.after(PAGE, error("timeout"), is_last=False)
    second = sequels.after(first.request, answer(500), is_last=False)

    assert isinstance(first, Later)
    assert second.request.attempts == ("timeout", "status 500")
    assert second.wait > first.wait
    assert sequels.after(second.request, error("dns"), is_last=False) == failed("dns")
    assert sequels.after(second.request, answer(500), is_last=False) is Next.ANALYZE


def test_there_is_no_other_try_when_the_host_is_given_up_or_the_door_is_shut(sequels, door):
    assert sequels.after(PAGE, error("timeout"), is_last=True) == failed("timeout")

    door.shut = "time_limit"

    assert sequels.after(PAGE, error("timeout"), is_last=False) == failed("timeout")


def test_a_middleware_may_ask_for_a_longer_wait_or_refuse(sequels):
    later = sequels.after(PAGE, error("x", Retry("soon", delay=90.0)), is_last=False)

    assert later.wait == 90.0
    assert sequels.after(PAGE, error("x", Refusal("robots")), is_last=False) == refused("robots")


def test_a_hop_has_all_its_attempts_before_it(sequels):
    tried = PAGE.replace(attempts=("timeout",))

    hop = sequels.after(tried, answer(302, tried, location="/new"), is_last=False)

    assert isinstance(hop, Hop)
    assert (hop.request.url, hop.request.attempts) == ("http://a.test/new", ())
    assert hop.request.redirects == ("http://a.test/",)
    assert sequels.moved == {}


def test_a_hop_leads_to_no_host_that_was_given_up_and_to_no_other_scope(sequels):
    dead = answer(301, location="http://dead.test/")
    other = answer(301, location="http://other.test/")

    assert sequels.after(PAGE, dead, is_last=False) == failed("host")
    assert sequels.after(PAGE, other, is_last=False) == refused("domain")
    assert sequels.moved == {}


def test_a_page_that_has_gone_for_good_is_remembered(sequels):
    sequels.after(PAGE, answer(301, location="/new"), is_last=False)

    assert sequels.moved == {"http://a.test/": "http://a.test/new"}
