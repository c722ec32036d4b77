"""Failures: a failure reaches its visit, the counts, the readers, whoever waits, and the hook."""

import pytest
from gevent.event import AsyncResult

from crawler import Request
from crawler.errors import DownloadError, Refusal
from crawler.frontier import Frontier, Politeness, Scope, refused
from crawler.scheduler.error_pool import ErrorPool
from crawler.scheduler.failures import Failures
from crawler.scheduler.visits import Visit

URL = "http://site.test/"


@pytest.fixture
def frontier():
    frontier = Frontier(
        Scope(max_depth=None, accepted_domains=["site.test"]), politeness=Politeness(robots=False)
    )
    yield frontier
    frontier.close()


@pytest.fixture
def visit(frontier):
    assert frontier.admit(Request(URL)) is None
    return Visit(frontier.take())


def failure(visit):
    return DownloadError("D1", visit.request, "no answer", "timeout")


def test_a_failure_is_the_outcome_of_its_visit_and_is_read_and_counted(frontier, visit):
    errors = ErrorPool(10, 1)
    failures = Failures(frontier, errors, None)
    error = failure(visit)

    failures.report(visit, error)

    assert (visit.outcome.status, visit.outcome.reason) == ("failed", "timeout")
    assert next(errors.consume()) is error


def test_whoever_waits_for_the_request_gets_the_error(frontier, visit):
    failures = Failures(frontier, ErrorPool(10, 1), None)
    awaited = failures.awaited[visit.request.id] = AsyncResult()
    error = failure(visit)

    failures.report(visit, error)

    with pytest.raises(DownloadError) as caught:
        awaited.get(block=False)
    assert caught.value is error


def test_whoever_waits_for_a_request_that_is_dropped_gets_the_reason(frontier, visit):
    failures = Failures(frontier, ErrorPool(10, 1), None)
    awaited = failures.awaited[visit.request.id] = AsyncResult()

    failures.dropped(visit.request, refused("robots"))
    failures.dropped(Request(URL), refused("robots"))  # nobody waits for this one

    with pytest.raises(Refusal, match="robots"):
        awaited.get(block=False)


def test_what_the_hook_returns_is_admitted(frontier, visit):
    failures = Failures(frontier, ErrorPool(10, 1), lambda error: [Request(f"{URL}instead")])

    failures.report(visit, failure(visit))

    assert frontier.view.counts().pending == 2


def test_a_hook_that_fails_is_logged_and_the_failure_reported(frontier, visit, caplog):
    def hook(error):
        raise ZeroDivisionError

    errors = ErrorPool(10, 1)

    Failures(frontier, errors, hook).report(visit, failure(visit))

    assert "on_error failed for" in caplog.text
    assert errors.reported == 1
    assert visit.outcome.reason == "timeout"
