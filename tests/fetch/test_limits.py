import pytest

from crawler.errors import FetchError
from crawler.fetch import Limits


@pytest.mark.parametrize("limit", ["connect", "total", "stall", "body", "headers"])
def test_limits_are_more_than_nothing(limit):
    with pytest.raises(ValueError, match=limit):
        Limits(**{limit: 0})


def test_headers_may_reach_their_limit_and_not_exceed_it():
    limits = Limits(headers=20)

    limits.check_headers(20)
    with pytest.raises(FetchError, match="too_large: the headers are larger than 20 bytes"):
        limits.check_headers(21)
