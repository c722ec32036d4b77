import json

import pytest

from crawler import Request
from crawler.module.error_line import line_of, trace_of


def fail(depth=0):
    if depth:
        fail(depth - 1)
    raise KeyError("price")


LINE = (__file__, fail.__code__.co_firstlineno + 3)


def caught(function, *arguments):
    with pytest.raises(BaseException) as raised:
        function(*arguments)
    return raised.value


def test_it_is_the_innermost_line_of_the_users_code():
    assert line_of(caught(fail)) == LINE
    file, line = line_of(caught(json.loads, "{"))
    assert (file, line == LINE[1]) == (__file__, False)


def test_code_that_a_dataclass_has_written_is_not_the_users():
    request = Request("http://site.test/")

    def assign():
        request.priority = 1

    assert line_of(caught(assign)) == (__file__, assign.__code__.co_firstlineno + 1)


def test_it_is_found_in_a_group_and_in_the_cause_of_an_error_without_a_traceback():
    group = BaseExceptionGroup("two", [caught(fail), ValueError()])
    wrapped = RuntimeError("a hook failed")
    wrapped.__cause__ = group

    assert line_of(group) == line_of(wrapped) == LINE


def test_an_error_without_a_line_has_none():
    circle = ValueError()
    circle.__cause__ = circle

    assert line_of(circle) is None


def test_a_long_traceback_is_cut_in_its_middle():
    error = KeyError("x" * 100_000)

    assert len(trace_of(error)) < 5000
    assert trace_of(caught(fail)).endswith("KeyError: 'price'\n")
