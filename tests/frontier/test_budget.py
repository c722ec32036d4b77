import pytest

from crawler.data import Request
from crawler.frontier import Budget, failed
from crawler.frontier.budget import Spending
from crawler.frontier.ledger import Ledger

PAGE = Request("http://a.test/")
RETRY = PAGE.replace(attempts=("timeout",))
HOP = PAGE.replace(redirects=("http://a.test/old",))


def spending(ledger=None, **budget):
    return Spending(Budget(**budget), ledger or Ledger())


def test_retries_and_hops_are_part_of_a_page_that_was_counted():
    spent = spending(pages=1)

    assert spent.begin(PAGE)
    assert not spent.begin(PAGE)
    assert spent.begin(RETRY)
    assert spent.begin(HOP)


@pytest.mark.parametrize(("request_", "left"), [(PAGE, True), (RETRY, False), (HOP, False)])
def test_a_page_that_was_not_fetched_is_counted_no_more(request_, left):
    spent = spending(pages=1)
    spent.begin(PAGE)

    spent.take_back(request_)

    assert spent.begin(PAGE) is left


def test_bytes_are_used_up_at_the_limit():
    spent = spending(bytes=100)

    spent.weigh(99, now=0.0)
    assert spent.used_up is None

    spent.weigh(1, now=0.0)
    assert spent.used_up == "byte_limit"


def test_errors_are_those_of_the_ledger():
    ledger = Ledger()
    spent = spending(ledger, errors=2)
    for kind in ("dns", "timeout"):
        assert spent.used_up is None
        ledger.admit()
        ledger.settle(failed(kind), PAGE.url)

    assert spent.used_up == "error_limit"


def test_bandwidth_that_was_used_must_be_made_up_for():
    spent = spending(bandwidth=100.0)

    spent.weigh(200, now=10.0)
    spent.weigh(100, now=11.0)
    assert spent.free_at == 13.0

    spent.weigh(100, now=50.0)
    assert spent.free_at == 51.0
    assert spent.used_up is None
