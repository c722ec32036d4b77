import dataclasses
import functools

import gevent
import pytest

from crawler.data import Item, Link, Links, Request, Response
from crawler.errors import AnalyzeError
from crawler.module import Analyzer
from crawler.module.analyzer import CHUNK

from .conftest import each

REQUEST = Request("http://site.test/start", depth=2, meta={"shop": 7})
RESPONSE = Response("http://site.test/dir/page", 200, {"A": "b"}, b"first\nsecond\n", REQUEST)


@dataclasses.dataclass
class Product:
    name: str


def yielding(*found):
    def parse(response):
        yield from found

    return parse


def analyze(*parsers, response=RESPONSE):
    """Return what was found, the error if there was one, and the analyzer."""
    analyzer = Analyzer(*parsers)
    found, error = [], None
    try:
        for datum in each(analyzer.analyze(response)):
            found.append(datum)
    except AnalyzeError as failure:
        error = failure
    return found, error, analyzer


# -- parsers ----------------------------------------------------------------------------------


def test_an_analyzer_without_parsers_is_refused():
    with pytest.raises(ValueError, match="needs at least one parser"):
        Analyzer()


@pytest.mark.parametrize("parser", [None, 5, "parse", [yielding()]])
def test_a_parser_that_is_not_a_function_is_refused_with_its_number(parser):
    with pytest.raises(ValueError, match="parser 1 must be a function of a Response"):
        Analyzer(yielding(), parser)


def test_every_parser_sees_the_whole_response_in_order():
    seen = []

    def read_first(response):
        seen.append(("first", response.reader().read()))

    def read_second(response):
        seen.append(("second", response.reader().read()))

    _, error, _ = analyze(read_first, read_second)

    assert error is None
    assert seen == [("first", RESPONSE.body), ("second", RESPONSE.body)]


def test_a_parser_cannot_disturb_what_another_sees():
    def vandalize(response):
        reader = response.reader()
        reader.truncate(0)
        reader.close()
        for change in (
            lambda: setattr(response, "body", b""),
            lambda: setattr(response.headers, "fields", ()),
            lambda: response.headers.update(A="c"),
            lambda: response.request.meta.update(shop=8),
            lambda: setattr(response.request, "depth", 0),
        ):
            with pytest.raises((AttributeError, TypeError)):
                change()

    def look(response):
        yield {
            "body": response.reader().read(),
            "header": response.headers["a"],
            "shop": response.request.meta["shop"],
            "depth": response.depth,
        }

    [item], error, _ = analyze(vandalize, look)

    assert error is None
    assert item.value == {"body": RESPONSE.body, "header": "b", "shop": 7, "depth": 2}


def test_ten_responses_yield_their_items_and_requests_and_are_counted():
    def parse(response):
        index = int(response.url.rpartition("/")[2])
        yield {"url": response.url, "index": index, "depth": response.depth}
        yield f"/{index + 1}"

    analyzer = Analyzer(parse)
    for index in range(10):
        url = f"http://site.test/{index}"
        response = Response(url, 200, request=Request(url, depth=index))

        item, request = each(analyzer.analyze(response))

        assert item == Item({"url": url, "index": index, "depth": index}, response.request)
        assert (request.url, request.depth) == (f"http://site.test/{index + 1}", index + 1)

    assert repr(analyzer) == f"<Analyzer {analyzer.mid}, 0 handling, 10/10 completed>"
    assert analyzer.summary().extra == {"parser_number": 1}


def test_findings_are_yielded_while_the_parser_still_runs():
    steps = []

    def parse(response):
        for n in range(3):
            steps.append(f"found {n}")
            yield {"n": n}

    for item in Analyzer(parse).analyze(RESPONSE):
        steps.append(f"got {item.value['n']}")

    assert steps == ["found 0", "got 0", "found 1", "got 1", "found 2", "got 2"]


# -- failures ---------------------------------------------------------------------------------


def test_a_failing_parser_does_not_stop_the_others_and_its_findings_are_kept():
    def fail_late(response):
        yield {"n": 1}
        raise KeyError("title")

    found, error, analyzer = analyze(fail_late, yielding({"n": 2}))

    assert [item.value["n"] for item in found] == [1, 2]
    assert isinstance(error.__cause__, KeyError)
    assert error.request is REQUEST
    assert error.module == str(analyzer.mid)
    assert (analyzer.counts.accepted, analyzer.counts.completed) == (1, 0)


@pytest.mark.parametrize(
    "failure", [SystemExit(1), gevent.Timeout(1), GeneratorExit(), StopIteration(), MemoryError()]
)
def test_any_exception_of_one_parser_lets_the_others_run(failure):
    def fail(response):
        raise failure

    found, error, _ = analyze(fail, yielding({"n": 2}))

    assert [item.value for item in found] == [{"n": 2}]
    assert error is not None


def test_all_failures_are_reported_together():
    def fail(number, response):
        raise ValueError(number)

    _, error, _ = analyze(*[functools.partial(fail, number) for number in range(3)])

    assert isinstance(error.__cause__, ExceptionGroup)
    assert error.reason == "ValueError: 0 (and 2 other failures)"
    assert [failure.args for failure in error.__cause__.exceptions] == [(0,), (1,), (2,)]


def test_a_parser_that_swallows_everything_harms_only_itself():
    def swallow(response):
        try:
            yield {"n": 1}
        finally:
            raise RuntimeError("from finally")

    found, error, _ = analyze(swallow, yielding({"n": 2}))

    assert [item.value["n"] for item in found] == [1, 2]
    assert isinstance(error.__cause__, RuntimeError)


# -- requests ---------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [0, 3, 99])
def test_the_depth_is_one_more_than_that_of_the_response_whatever_the_parser_set(depth):
    [request], _, _ = analyze(yielding(Request("http://site.test/next", depth=depth)))

    assert request.depth == 3


def test_a_found_request_keeps_what_the_parser_set_and_gets_the_page_it_was_found_on():
    given = Request(
        "http://site.test/next",
        method="POST",
        body=b"x",
        headers={"A": "b"},
        meta={"m": 1},
        priority=5,
        callback="parse_next",
        dont_filter=True,
        found_on="http://elsewhere.test/",
    )

    [request], _, _ = analyze(yielding(given))

    assert request == given.replace(depth=3, found_on="http://site.test/dir/page")


def test_every_found_request_gets_a_new_id():
    again = Request("http://site.test/next", priority=1)

    found, _, _ = analyze(yielding(again, again, REQUEST))

    assert len({request.id for request in (*found, again, REQUEST)}) == 5


OPTIONS = {
    "cb_kwargs": {"number": 2},
    "method": "POST",
    "headers": {"A": "b"},
    "body": b"x",
    "cookies": {"a": "b"},
    "meta": {"m": 1},
    "priority": 5,
    "timeout": 3.0,
    "proxy": "http://proxy.test",
    "callback": "parse_next",
    "errback": "failed_next",
    "dont_filter": True,
    "save_to": "files/",
}
#: Fields that are set anew when a request is found: where it was found, and what happened before.
HISTORY = {
    "depth": 7,
    "found_on": "http://elsewhere.test/",
    "redirects": ("http://a.test/",),
    "attempts": ("503",),
    "trusted": {"127.0.0.1"},
    "id": "1",
}


@pytest.mark.parametrize(
    ("url", "found_at"), [("/a b", "http://site.test/a%20b"), ("X://a b",) * 2]
)
@pytest.mark.parametrize("history", [{}, *({name: value} for name, value in HISTORY.items())])
def test_a_request_that_has_only_a_url_is_a_link(url, found_at, history):
    [found], _, _ = analyze(yielding(Request(url, **history)))

    assert found == Link(found_at, 3, "http://site.test/dir/page")


@pytest.mark.parametrize("option", OPTIONS)
def test_a_request_with_any_option_stays_a_request(option):
    given = Request("http://site.test/a", **{option: OPTIONS[option]})

    [found], _, _ = analyze(yielding(given))

    assert found == given.replace(depth=3, found_on="http://site.test/dir/page")


def test_every_field_of_a_request_is_an_option_or_part_of_its_history():
    fields = {field.name for field in dataclasses.fields(Request)}

    assert fields == {"url", *OPTIONS, *HISTORY}


def test_a_request_made_from_the_one_before_does_not_inherit_its_redirects():
    request = REQUEST.replace(redirects=("http://site.test/old", "http://site.test/older"))
    response = RESPONSE.replace(request=request)

    def parse(response):
        yield response.request.replace(url="http://site.test/page/2")

    [found], _, _ = analyze(parse, response=response)

    assert found.redirects == ()
    assert found.meta == {"shop": 7}


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("http://other.test/a", "http://other.test/a"),
        ("//other.test/a", "http://other.test/a"),
        ("/a", "http://site.test/a"),
        ("a", "http://site.test/dir/a"),
        ("../a?b=c", "http://site.test/a?b=c"),
        ("#top", "http://site.test/dir/page#top"),
        ("  /a \n", "http://site.test/a"),
        ("mailto:a@b.test", "mailto:a@b.test"),
    ],
)
def test_a_url_is_resolved_against_the_page_it_was_found_on(href, url):
    [link], error, _ = analyze(yielding(href))

    assert error is None
    assert link == Link(url, depth=3, found_on="http://site.test/dir/page")


class SmartText(str):
    __slots__ = ()


@pytest.mark.parametrize("href", ["http://[", "http://a b/", "https://", "http://\udc80/"])
@pytest.mark.parametrize("text", [str, SmartText])
def test_an_href_that_is_not_a_url_is_passed_on_for_the_frontier_to_refuse(href, text):
    found, error, _ = analyze(yielding(text(href), {"n": 1}))

    assert error is None
    assert [datum.url for datum in found[:1]] == [href]
    assert type(found[0].url) is str
    assert found[1].value == {"n": 1}


# -- items ------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [{"a": 1}, {}, Product("lamp"), RESPONSE.headers])
def test_mappings_and_dataclasses_are_items(value):
    [item], error, _ = analyze(yielding(value))

    assert error is None
    assert item.value is value
    assert item.request is REQUEST


def test_none_among_the_findings_is_ignored():
    found, error, _ = analyze(yielding(None, {"n": 1}, None))

    assert [item.value for item in found] == [{"n": 1}]
    assert error is None


class Unprintable:
    def __repr__(self):
        raise OSError("no repr")


@pytest.mark.parametrize(
    "invalid",
    [5, 1.5, b"http://site.test/", ["/a"], ("a", 1), object(), Product, RESPONSE],
)
def test_an_invalid_finding_is_an_error_that_names_the_parser_and_no_other_finding_is_lost(invalid):
    def parse_wrongly(response):
        yield {"n": 1}
        yield invalid
        yield {"n": 2}

    found, error, _ = analyze(parse_wrongly, yielding({"n": 3}))

    assert [item.value["n"] for item in found] == [1, 2, 3]
    assert "parse_wrongly yielded" in error.reason
    assert isinstance(error.__cause__, TypeError)


def test_an_item_of_another_request_is_an_invalid_finding():
    found, error, _ = analyze(yielding(Item({}, Request("http://other.test/"))))

    assert found == []
    assert "yielded Item" in error.reason


def test_an_invalid_finding_that_cannot_be_printed_does_not_stop_the_analysis():
    found, error, _ = analyze(yielding(Unprintable(), {"n": 1}), yielding({"n": 2}))

    assert [item.value["n"] for item in found] == [1, 2]
    assert error is not None


def test_a_long_invalid_finding_is_shortened_in_the_message():
    _, error, _ = analyze(yielding(b"x" * 1_000_000))

    assert len(str(error)) < 1000


@pytest.mark.parametrize("result", [{"a": 1}, "/a", b"/a", 5, True, REQUEST, Product("lamp")])
def test_a_parser_that_returns_a_single_value_is_named_in_the_error(result):
    def return_one(response):
        return result

    found, error, _ = analyze(return_one, yielding({"n": 1}))

    assert [item.value for item in found] == [{"n": 1}]
    assert "return_one returned" in error.reason
    assert "not a list or generator" in error.reason


@pytest.mark.parametrize("result", [None, [], (), iter(())])
def test_a_parser_that_returns_nothing_is_completed_without_findings(result):
    found, error, analyzer = analyze(lambda response: result)

    assert (found, error) == ([], None)
    assert analyzer.counts.completed == 1


@pytest.mark.parametrize("container", [list, tuple, iter])
def test_a_parser_may_return_any_iterable(container):
    found, error, _ = analyze(lambda response: container([{"n": 1}, "/a"]))

    assert error is None
    assert len(found) == 2


# -- abandoned analyses -----------------------------------------------------------------------


def test_an_analysis_closed_early_is_neither_completed_nor_failed():
    closed = []

    def parse(response):
        try:
            yield from ({"n": n} for n in range(100))
        finally:
            closed.append(True)

    analyzer = Analyzer(parse)
    analysis = analyzer.analyze(RESPONSE)
    next(analysis)
    assert analyzer.counts.handling == 1

    analysis.close()

    assert closed == [True]
    assert repr(analyzer) == f"<Analyzer {analyzer.mid}, 0 handling, 0/1 completed>"
    assert analyzer.counts.failing == 0


def test_an_analysis_that_is_not_read_to_the_end_is_closed():
    analyzer = Analyzer(yielding({"n": 1}, {"n": 2}))

    for _ in analyzer.analyze(RESPONSE):
        break

    assert analyzer.counts.handling == 0


def test_an_analysis_can_be_killed_while_its_parser_waits():
    def parse(response):
        yield {"n": 1}
        gevent.sleep(60)

    analyzer = Analyzer(parse, yielding({"n": 2}))
    found = []

    def consume():
        for item in analyzer.analyze(RESPONSE):
            found.append(item.value["n"])

    consumer = gevent.spawn(consume)
    gevent.idle()
    consumer.kill(timeout=120)

    assert found == [1]
    assert analyzer.counts.handling == 0
    assert analyzer.counts.completed == 0


def test_links_are_passed_on_in_chunks_and_in_order_with_other_findings():
    def parse(_):
        yield from (f"/{n}" for n in range(CHUNK + 1))
        yield {"n": 1}
        yield "/last"
        raise ValueError("late")

    analysis = Analyzer(parse).analyze(RESPONSE)
    found = []
    with pytest.raises(AnalyzeError, match="late"):
        found.extend(analysis)

    assert [len(one.urls) if isinstance(one, Links) else one.value for one in found] == [
        CHUNK,
        1,
        {"n": 1},
        1,
    ]
    assert {(one.depth, one.found_on) for one in found if isinstance(one, Links)} == {
        (3, RESPONSE.url)
    }
