import pytest

from crawler.data import Request, Response
from crawler.errors import DownloadError, FetchError
from crawler.frontier import Retries
from crawler.frontier.retries import HOST_KINDS
from crawler.testing import Reply, Site

from .sites import after, page

HOME = "http://site.test/"


def failure(kind):
    return DownloadError("D1", Request(HOME), "no", kind)


def answer(status):
    return Response(HOME, status)


# -- Retries ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"attempts": 0}, "attempts must be at least 1, not 0"),
        ({"attempts": -1}, "attempts must be at least 1, not -1"),
        ({"attempts": 2.0}, "attempts must be at least 1, not 2.0"),
        ({"attempts": True}, "attempts must be at least 1, not True"),
        ({"attempts": None}, "attempts must be at least 1, not None"),
        ({"wait": -0.1}, "wait must be 0 or more seconds, not -0.1"),
        ({"wait": float("nan")}, "wait must be 0 or more seconds, not nan"),
    ],
)
def test_retries_say_what_is_wrong_with_them(wrong, complaint):
    with pytest.raises(ValueError, match=complaint):
        Retries(**wrong)


def test_the_number_of_attempts_includes_the_first():
    retries = Retries(attempts=3)

    assert retries.worth_another(answer(500), 1)
    assert retries.worth_another(answer(500), 2)
    assert not retries.worth_another(answer(500), 3)
    assert not retries.worth_another(answer(500), 4)
    assert not Retries(attempts=1).worth_another(failure("dns"), 1)


@pytest.mark.parametrize(
    "kind",
    ["dns", "connect", "tls", "timeout", "network", "proxy", "truncated", "protocol"],
)
def test_failures_that_may_pass_are_worth_another_try(kind):
    assert Retries().worth_another(failure(kind), 1)


@pytest.mark.parametrize("kind", ["too_large", "bad_request", "blocked_address", "parse", "killed"])
def test_failures_that_stay_are_not(kind):
    assert not Retries().worth_another(failure(kind), 1)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 522, 524])
def test_answers_that_may_pass_are_worth_another_try(status):
    assert Retries().worth_another(answer(status), 1)


@pytest.mark.parametrize("status", [200, 204, 301, 304, 400, 401, 403, 404, 410, 451, 501, 505])
def test_answers_that_stay_are_not(status):
    assert not Retries().worth_another(answer(status), 1)


def test_kinds_and_statuses_can_be_chosen():
    retries = Retries(kinds=frozenset({"too_large"}), statuses=frozenset({404}))

    assert retries.worth_another(failure("too_large"), 1)
    assert retries.worth_another(answer(404), 1)
    assert not retries.worth_another(failure("dns"), 1)
    assert not retries.worth_another(answer(503), 1)


def test_what_tells_about_a_host_is_always_worth_another_try():
    assert Retries().kinds >= HOST_KINDS


class TestCrawls:
    @pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
    def test_a_passing_trouble_is_tried_again(self, crawl, status):
        site = Site({"/": after(2, Reply(status), page())})

        summary, errors = crawl(site.url("/"), fetch=site, robots=False)

        assert len(site.requests) == 3
        assert summary.urls.done == 1
        assert not errors

    @pytest.mark.parametrize("status", [400, 403, 404, 410, 501])
    def test_a_lasting_answer_is_not(self, crawl, status):
        site = Site({"/": Reply(status)})

        crawl(site.url("/"), fetch=site, robots=False)

        assert len(site.requests) == 1

    def test_a_final_failure_keeps_how_every_attempt_ended(self, crawl):
        site = Site({"/": after(1, Reply(500), FetchError("truncated", "half of it"))})

        def fetch(request):
            return site(request)

        summary, [error] = crawl(site.url("/"), fetch=fetch, robots=False)

        assert summary.urls.failed == {"truncated": 1}
        assert error.request.attempts == ("status 500", "FetchError: truncated: half of it")
        assert "FetchError: truncated" in error.reason

    def test_retries_keep_the_identity_of_the_request(self, crawl):
        site = Site({"/": Reply(500)})

        crawl(site.url("/"), fetch=site, robots=False)

        assert len({r.id for r in site.requests}) == 1
