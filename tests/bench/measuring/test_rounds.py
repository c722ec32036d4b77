"""Rows measured round by round."""

import pytest

from crawler.bench.measuring.child import BenchError
from crawler.bench.measuring.rounds import interleaved


def test_nothing_measured_is_an_error():
    def fail(name):
        raise BenchError(f"{name} is ill")

    with pytest.raises(BenchError, match="a: a is ill; b: b is ill"):
        interleaved(["a", "b"], 2, fail, bool)


def test_a_row_that_fails_in_a_later_round_is_removed():
    left = {"a": [1.0, 2.0], "b": [3.0]}

    def measure(name):
        if not left[name]:
            raise BenchError("it is ill")
        return {"us": left[name].pop(0)}

    assert interleaved(left, 2, measure, bool) == ({"a": {"us": [1.0, 2.0]}}, ["b: it is ill"])
