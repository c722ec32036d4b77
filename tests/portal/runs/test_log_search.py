from contextlib import contextmanager
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.portal.runs.log_index import LogIndex
from crawler.portal.runs.log_search import LogQuery

from .test_log_index import line


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    path = tmp_path_factory.mktemp("log")
    about = {"host": "example.org", "request": "a1", "url": "http://example.org/page"}
    (path / "log.txt").write_text(
        line("began the crawl", 0)
        + line("timeout of the page", 10, "WARNING", **about)
        + line("no price", 20, "ERROR", trace="ValueError in shop.py", **about | {"request": "a2"})
        + line("timeout again", 30, "INFO", host="other.org", request="b1", url="http://other.org/")
        + line("ended", 40, "CRITICAL")
    )
    index = LogIndex(path)
    index.update()
    return index


def found(index, **query):
    return [one.id for one in LogQuery(**query).lines(index)]


def at(second):
    return datetime(2026, 11, 18, 4, 0, second, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        ({}, [1, 2, 3, 4, 5]),
        ({"words": "timeout"}, [2, 4]),
        ({"words": "TIMEOUT page"}, [2]),
        ({"words": "time*"}, [2, 4]),
        ({"words": "time"}, []),
        ({"words": "shop.py"}, [3]),
        ({"words": "example.org"}, [2, 3]),
        ({"level": "INFO"}, [1, 2, 3, 4, 5]),
        ({"level": "WARNING"}, [2, 3, 5]),
        ({"level": "ERROR"}, [3, 5]),
        ({"level": "CRITICAL"}, [5]),
        ({"host": "example.org"}, [2, 3]),
        ({"host": "org"}, []),
        ({"request": "a1"}, [2]),
        ({"host": "example.org", "request": "b1"}, []),
        ({"words": "timeout", "host": "other.org", "level": "INFO"}, [4]),
        ({"since": at(20)}, [3, 4, 5]),
        ({"until": at(20)}, [1, 2]),
        ({"since": at(10), "until": at(31), "words": "timeout"}, [2, 4]),
        ({"since": at(50)}, []),
        ({"most": 2}, [4, 5]),
        ({"most": 2, "before": 4}, [2, 3]),
        ({"most": 2, "after": 2}, [3, 4]),
        ({"words": "timeout", "after": 2}, [4]),
        ({"around": 3, "words": "nothing"}, [1, 2, 3, 4, 5]),
        ({"level": "LOUD"}, [1, 2, 3, 4, 5]),
    ],
    ids=str,
)
def test_a_query_finds_its_lines_oldest_first(index, query, lines):
    assert found(index, **query) == lines


def test_a_query_says_whether_it_leaves_lines_out():
    assert not LogQuery(words=" ", before=3).is_narrow
    assert LogQuery(until=0.0).is_narrow
    assert LogQuery(host="x").is_narrow


def steps(index, **query):
    """Return how many hundreds of instructions SQLite has needed for a query."""
    number = [0]

    def count():
        number[0] += 1

    @contextmanager
    def counted(opened=index.open):
        with opened() as database:
            database.set_progress_handler(count, 100)
            yield database

    counting = SimpleNamespace(open=counted)
    assert LogQuery(most=5, **query).lines(counting)
    return number[0]


def test_a_search_does_not_read_the_whole_log(tmp_path):
    """The same line is found with the same work in 500 lines and in 20,000."""
    needed = []
    for size in (500, 20_000):
        path = tmp_path / str(size)
        path.mkdir()
        about = {"host": "rare.test", "request": "beef", "url": "http://rare.test/"}
        middle = line("a needle", 1, "ERROR", **about)
        lines = [line(f"page {n} of the crawl", 2, host="x.test") for n in range(size)]
        lines[size // 2] = middle
        (path / "log.txt").write_text(line("first", 0) + "".join(lines))
        index = LogIndex(path)
        while index.update(is_over=True):
            pass
        queries = ({"words": "needle"}, {"level": "ERROR"}, {"host": "rare.test"})
        queries += ({"request": "beef"}, {"until": at(1)}, {"around": 3}, {})
        needed.append([steps(index, **query) for query in queries])

    few, many = needed
    assert all(after <= 2 * before + 5 for before, after in zip(few, many, strict=True)), needed


@given(st.text(max_size=40), st.text(max_size=10), st.text(max_size=10))
def test_no_text_is_a_command(index, words, host, request):
    for query in (LogQuery(words=words), LogQuery(words=words, host=host, request=request)):
        query.lines(index)


@pytest.mark.parametrize("words", ['"', "NEAR(a b)", "a OR b", "host:x", "-a", "^a", "*", '"* OR'])
def test_operators_are_words(index, words):
    assert found(index, words=words) == []
