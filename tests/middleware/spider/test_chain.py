"""The chain of spider middlewares: order, aggregation, failures, figures."""

from time import perf_counter

import gevent
import gevent.event
import pytest

from crawler.data import LostItem, Request, Response
from crawler.errors import DropItem, FetchError, TimeLimit
from crawler.middleware.download.contract import MiddlewareError
from crawler.middleware.spider.chain import SpiderChain
from crawler.middleware.spider.contract import HttpError, SpiderMiddleware
from crawler.middleware.spider.hooks import HookFigures

from .chains import collect

HOME = "http://site.test/"
PAGE = Response(HOME, 200, request=Request(HOME, depth=3))


class Spider:
    """Anything can be the spider of a chain."""

    def parse(self, response):
        return None

    def errback(self, error):
        return None


class Note(SpiderMiddleware):
    """Records its calls, and marks what passes."""

    def __init__(self, name, calls=None):
        self.name = name
        self.calls = [] if calls is None else calls

    def process_response(self, response, request, spider):
        self.calls.append(("response", self.name))
        return [{"from": self.name}]

    def process_error(self, error, request, spider):
        self.calls.append(("error", self.name))
        return [{"from": self.name}]

    def process_request(self, request, response, spider):
        return request.replace(meta={"way": [*request.meta.get("way", []), self.name]})

    def process_item(self, item, response, spider):
        return item | {"way": [*item.get("way", []), self.name]}

    def next_request(self, spider):
        self.calls.append(("next", self.name))

    def open_spider(self, spider):
        self.calls.append(("open", self.name))

    def close_spider(self, spider):
        self.calls.append(("close", self.name))


class Failing(SpiderMiddleware):
    """Fails in every hook."""

    def process_response(self, response, request, spider):
        yield {"before": "the failure"}
        raise KeyError("response")

    def process_request(self, request, response, spider):
        if "bad" in request.url:
            raise KeyError("request")
        return request

    def process_item(self, item, response, spider):
        if item.get("bad"):
            raise KeyError("item")
        return item


class FailingUp(Failing):
    def process_response(self, response, request, spider):
        return None


def run(middlewares, found, response=PAGE):
    """Return what the chain yields for *response* if the callback returns *found*."""
    return list(SpiderChain(middlewares, Spider()).response(response, lambda _: found))


def one(found, middlewares):
    [passed] = run(middlewares, [found])
    return passed


# -- order and aggregation --------------------------------------------------------------------


def test_every_process_response_sees_the_same_response_and_the_spider_comes_last():
    calls = []

    found = run([Note("A", calls), Note("B", calls)], [{"from": "spider"}])

    assert calls == [("response", "A"), ("response", "B")]
    assert [item["from"] for item in found] == ["A", "B", "spider"]


def test_what_one_hook_returns_does_not_reach_the_next_process_response():
    class Greedy(SpiderMiddleware):
        def process_response(self, response, request, spider):
            seen.append((response, request))

    seen = []

    run([Note("A"), Greedy, Greedy], [])

    assert seen == [(PAGE, PAGE.request)] * 2


def test_everything_goes_up_from_the_spider_through_every_middleware_whoever_made_it():
    found = run([Note("A"), Note("B"), Note("C")], [{"from": "spider"}, Request(HOME + "x")])

    ways = [each.meta["way"] if isinstance(each, Request) else each["way"] for each in found]
    assert ways == [["C", "B", "A"]] * 5


def test_an_error_goes_the_same_way_with_the_errback_in_place_of_the_callback():
    chain = SpiderChain([Note("A"), Note("B")], Spider())
    failure = FetchError("dns", "no such host")

    found = list(chain.error(failure, PAGE.request, lambda error: [{"from": error.kind}]))

    assert [item["from"] for item in found] == ["A", "B", "dns"]
    assert all(item["way"] == ["B", "A"] for item in found)


def test_a_hook_that_passes_the_response_on_is_named_with_what_to_return():
    class Passing(SpiderMiddleware):
        def process_response(self, response, request, spider):
            return response

    with pytest.raises(MiddlewareError, match=r"Passing\.process_response: .*return None"):
        list(SpiderChain([Passing()], Spider()).response(PAGE, lambda response: ["/a"]))


def test_hooks_are_given_what_the_contract_names():
    given = []

    class Curious(SpiderMiddleware):
        def process_response(self, *, response, request, spider):
            given.append((response, request, spider))

        def process_error(self, *, error, request, spider):
            given.append((error, request, spider))

        def process_request(self, *, request, response, spider):
            given.append((request.url, response, spider))
            return request

        def process_item(self, *, item, response, spider):
            given.append((item, response, spider))
            return item

    spider, failure = Spider(), FetchError("dns", "")
    chain = SpiderChain([Curious], spider)

    list(chain.response(PAGE, lambda _: [{"n": 1}, HOME]))
    list(chain.error(failure, PAGE.request, lambda _: [{"n": 2}]))
    chain.request(HOME)

    assert given == [
        (PAGE, PAGE.request, spider),
        ({"n": 1}, PAGE, spider),
        (HOME, PAGE, spider),
        (failure, PAGE.request, spider),
        ({"n": 2}, None, spider),
        (HOME, None, spider),
    ]


def test_what_follows_an_http_error_has_its_response():
    class Where(SpiderMiddleware):
        def process_item(self, item, response, spider):
            return item | {"status": response.status}

    chain = SpiderChain([Where], Spider())
    missing = PAGE.replace(status=404)

    assert list(chain.error(HttpError(missing), missing.request, lambda _: {"n": 1})) == [
        {"n": 1, "status": 404}
    ]


def test_none_ends_the_way_of_one_element():
    class Odd(SpiderMiddleware):
        def process_item(self, item, response, spider):
            return item if item["n"] % 2 else None

    class Above(SpiderMiddleware):
        def process_item(self, item, response, spider):
            return item | {"passed": True}

    chain = SpiderChain([Above, Odd], Spider())

    found = list(chain.response(PAGE, lambda _: ({"n": n} for n in range(6))))

    assert found[1::2] == [{"n": n, "passed": True} for n in (1, 3, 5)]
    assert found[::2] == [LostItem(failed=False)] * 3
    assert chain.figures["Odd", "process_item"].drops == 3
    assert chain.figures["Above", "process_item"].calls == 3


def test_a_dropped_item_may_say_so_by_raising():
    class Strict(SpiderMiddleware):
        def process_item(self, item, response, spider):
            raise DropItem("not wanted")

    chain = SpiderChain([Strict], Spider())

    assert list(chain.response(PAGE, lambda _: {"n": 1})) == [LostItem(failed=False)]
    assert (chain.figures["Strict", "process_item"].drops) == 1
    assert (chain.figures["Strict", "process_item"].failures) == 0


def test_a_middleware_may_replace_what_it_passes_on():
    class Double(SpiderMiddleware):
        def process_request(self, request, response, spider):
            return Request(request.url + "?doubled")

        def process_item(self, item, response, spider):
            return {"n": item["n"] * 2}

    assert one({"n": 4}, [Double, Double]) == {"n": 16}
    assert one(HOME, [Double]).url == HOME + "?doubled"


# -- what is found ----------------------------------------------------------------------------


def test_urls_become_requests_one_step_from_their_page():
    class Look(SpiderMiddleware):
        def process_request(self, request, response, spider):
            seen.append((request.url, request.depth))
            return request

    seen = []

    run([Look], ["a", "http://other.test/", Request(HOME + "b"), Request(HOME + "c", depth=4)])

    assert seen == [
        (HOME + "a", 4),
        ("http://other.test/", 4),
        (HOME + "b", 4),
        (HOME + "c", 4),
    ]


def test_what_an_error_leads_to_is_one_step_further_even_without_a_response():
    chain = SpiderChain([Note("A")], Spider())
    failure = FetchError("dns", "")

    *_, found = chain.error(failure, PAGE.request, lambda _: "/mirror")

    assert (found.url, found.depth) == (HOME + "mirror", 4)


def test_what_is_no_url_is_left_for_the_frontier_to_refuse():
    assert one("http://[", [FailingUp]).url == "http://["


def test_without_middlewares_everything_passes_as_it_is():
    found = [{"n": 1}, "relative", Request(HOME)]

    assert run([], found) == found


def test_first_requests_pass_process_request_too():
    chain = SpiderChain([Note("A"), Note("B")], Spider())

    first = chain.request(HOME)

    assert (first.url, first.depth, first.meta["way"]) == (HOME, 0, ["B", "A"])


def test_a_first_request_may_be_dropped():
    class Nothing(SpiderMiddleware):
        def process_request(self, request, response, spider):
            return None

    assert SpiderChain([Nothing], Spider()).request(HOME) is None


# -- return shapes ----------------------------------------------------------------------------


def test_none_among_the_findings_is_passed_over():
    assert run([Note("A")], [None, {"n": 1}, None])[1:] == [{"n": 1, "way": ["A"]}]


@pytest.mark.parametrize("wrong", [True, [Request(HOME)], {"n": 1}, HOME])
def test_process_request_returns_one_request_or_none(wrong):
    class Wrong(SpiderMiddleware):
        def process_request(self, request, response, spider):
            return wrong

    with pytest.raises(MiddlewareError, match=r"Wrong\.process_request: TypeError: returned"):
        run([Wrong], [HOME])


@pytest.mark.parametrize("wrong", [Request(HOME), HOME, iter([{"n": 1}])])
def test_process_item_returns_one_item_or_none(wrong):
    class Wrong(SpiderMiddleware):
        def process_item(self, item, response, spider):
            return wrong

    with pytest.raises(MiddlewareError, match=r"Wrong\.process_item: TypeError: returned"):
        run([Wrong], [{"n": 1}])


# -- laziness ---------------------------------------------------------------------------------


def test_nothing_is_made_before_the_one_before_has_been_taken():
    made = []

    def callback(response):
        for n in range(1000):
            made.append(n)
            yield {"n": n}

    flow = SpiderChain([Note("A")], Spider()).response(PAGE, callback)
    taken = [next(flow) for _ in range(4)]

    assert [item.get("n") for item in taken] == [None, 0, 1, 2]
    assert made == [0, 1, 2]


def test_who_stops_reading_closes_the_generators():
    closed = []

    def callback(response):
        try:
            yield from ({"n": n} for n in range(1000))
        finally:
            closed.append(True)

    flow = SpiderChain([], Spider()).response(PAGE, callback)
    next(flow)
    flow.close()

    assert closed == [True]


def test_a_blocking_hook_blocks_one_page_only():
    gate = gevent.event.Event()

    class Slow(SpiderMiddleware):
        def process_item(self, item, response, spider):
            if item["n"] == "slow":
                gate.wait()
            return item

    chain = SpiderChain([Slow], Spider())
    waiting = gevent.spawn(list, chain.response(PAGE, lambda _: {"n": "slow"}))
    gevent.idle()

    assert list(chain.response(PAGE, lambda _: {"n": "fast"})) == [{"n": "fast"}]
    assert not waiting.ready()
    gate.set()
    assert waiting.get() == [{"n": "slow"}]


# -- failures ---------------------------------------------------------------------------------


def test_a_failing_process_response_costs_only_the_rest_of_its_own_output():
    chain = SpiderChain([Failing, Note("B")], Spider())

    found, error = collect(chain.response(PAGE, lambda _: [{"from": "spider"}]))

    assert [item.get("from", "Failing") for item in found] == ["Failing", "B", "spider"]
    assert str(error) == "Failing.process_response: KeyError: 'response'"
    assert isinstance(error.__cause__, KeyError)


def test_a_failing_process_request_or_item_costs_one_element():
    chain = SpiderChain([FailingUp], Spider())

    found, error = collect(
        chain.response(PAGE, lambda _: [{"bad": 1}, {"n": 1}, "/bad", "/good", {"n": 2}])
    )

    assert [each if isinstance(each, dict) else each.url for each in found] == [
        {"n": 1},
        HOME + "good",
        {"n": 2},
    ]
    assert isinstance(error, ExceptionGroup)
    assert [str(each) for each in error.exceptions] == [
        "FailingUp.process_item: KeyError: 'item'",
        "FailingUp.process_request: KeyError: 'request'",
    ]


def test_a_failing_callback_raises_its_own_error_and_keeps_what_came_before():
    def callback(response):
        yield {"n": 1}
        raise FetchError("tls", "inside the callback")

    found, error = collect(SpiderChain([], Spider()).response(PAGE, callback))

    assert found == [{"n": 1}]
    assert isinstance(error, FetchError)


def test_of_a_million_failures_the_first_ten_are_kept():
    chain = SpiderChain([FailingUp], Spider())

    found, error = collect(chain.response(PAGE, lambda _: ({"bad": n} for n in range(1, 5000))))

    assert found == []
    assert str(error).startswith("4999 hooks and elements failed")
    assert len(error.exceptions) == 10


def test_a_timeout_of_its_own_is_a_failure_of_the_hook():
    class Impatient(SpiderMiddleware):
        def process_response(self, response, request, spider):
            with gevent.Timeout(0.001):
                gevent.sleep(10)

    found, error = collect(SpiderChain([Impatient], Spider()).response(PAGE, lambda _: {"n": 1}))

    assert found == [{"n": 1}]
    assert "Impatient.process_response: Timeout" in str(error)


def test_the_end_of_its_time_ends_the_page():
    def callback(response):
        raise TimeLimit(1)

    with pytest.raises(TimeLimit):
        list(SpiderChain([], Spider()).response(PAGE, callback))


def test_what_fails_on_a_first_request_is_raised():
    with pytest.raises(MiddlewareError, match="request"):
        SpiderChain([Failing], Spider()).request(HOME + "bad")


# -- next_request -----------------------------------------------------------------------------


class Source(SpiderMiddleware):
    def __init__(self, *urls):
        self.urls = list(urls)

    def next_request(self, spider):
        return self.urls.pop(0) if self.urls else None


def test_more_requests_are_asked_for_top_down_and_the_first_that_has_one_wins():
    chain = SpiderChain([Source(), Source(HOME + "1"), Source(HOME + "2")], Spider())

    asked = [chain.next_request() for _ in range(3)]

    assert [getattr(each, "url", None) for each in asked] == [HOME + "1", HOME + "2", None]


def test_the_spider_is_asked_last():
    class Reserve(Spider):
        left = [HOME + "spare"]

        def next_request(self):
            return self.left.pop() if self.left else None

    chain = SpiderChain([Source(HOME + "1")], Reserve())

    assert [chain.next_request().url for _ in range(2)] == [HOME + "1", HOME + "spare"]
    assert chain.next_request() is None
    assert chain.figures["Reserve", "next_request"].calls == 2


def test_a_next_request_passes_the_chain_and_when_dropped_another_is_asked_for():
    class NoOdd(SpiderMiddleware):
        def process_request(self, request, response, spider):
            return None if request.url.endswith("odd") else request

    chain = SpiderChain([NoOdd, Source(HOME + "odd", HOME + "even")], Spider())

    assert chain.next_request().url == HOME + "even"


def test_one_that_fails_to_tell_does_not_silence_the_others(caplog):
    class Broken(SpiderMiddleware):
        def next_request(self, spider):
            raise KeyError("no")

    chain = SpiderChain([Broken, Failing, Source(HOME + "bad", HOME + "1")], Spider())

    assert chain.next_request().url == HOME + "1"
    assert "Broken.next_request failed" in caplog.text
    assert chain.figures["Broken", "next_request"].failures == 2


def test_one_that_returns_an_item_fails(caplog):
    class Wrong(Spider):
        def next_request(self):
            return {"a": 1}

    assert SpiderChain([], Wrong()).next_request() is None
    assert "it may return a request, a URL or None, not {'a': 1}" in caplog.text


# -- open and close ---------------------------------------------------------------------------


def test_all_are_opened_from_the_top_and_closed_from_the_bottom():
    calls = []
    chain = SpiderChain([Note("A", calls), Note("B", calls)], Spider())

    chain.open()
    chain.close()
    chain.close()

    assert calls == [("open", "A"), ("open", "B"), ("close", "B"), ("close", "A")]


def test_one_that_fails_to_close_does_not_keep_the_others_open(caplog):
    class Stuck(SpiderMiddleware):
        def close_spider(self, spider):
            raise OSError("stuck")

    calls = []
    chain = SpiderChain([Note("A", calls), Stuck, Note("B", calls)], Spider())
    chain.open()

    chain.close()

    assert calls[2:] == [("close", "B"), ("close", "A")]
    assert "Stuck.close_spider failed" in caplog.text


def test_even_the_end_of_the_greenlet_closes_all():
    class Ended(SpiderMiddleware):
        def close_spider(self, spider):
            raise gevent.GreenletExit

    calls = []
    chain = SpiderChain([Note("A", calls), Ended], Spider())
    chain.open()

    with pytest.raises(gevent.GreenletExit):
        chain.close()

    assert calls[1:] == [("close", "A")]


def test_when_one_fails_to_open_those_that_are_open_are_closed():
    class Shut(SpiderMiddleware):
        def open_spider(self, spider):
            raise OSError("shut")

    calls = []
    chain = SpiderChain([Note("A", calls), Shut, Note("B", calls)], Spider())

    with pytest.raises(OSError, match="shut"):
        chain.open()

    assert calls == [("open", "A"), ("close", "A")]


# -- building and figures ---------------------------------------------------------------------


@pytest.mark.parametrize("given", [Source, Source(), lambda: Source()])
def test_a_middleware_is_given_as_a_class_an_instance_or_what_makes_one(given):
    [built] = SpiderChain([given], Spider()).middlewares

    assert isinstance(built, Source)


@pytest.mark.parametrize("given", ["crawler.middleware.Referer", dict, object(), None])
def test_anything_else_is_no_middleware(given):
    with pytest.raises(ValueError, match="a spider middleware is a subclass of SpiderMiddleware"):
        SpiderChain([given], Spider())


def test_every_hook_that_does_something_has_figures():
    class Odd(SpiderMiddleware):
        def process_item(self, item, response, spider):
            if item["n"] == 4:
                raise ValueError("four")
            gevent.sleep(0.001)
            return item if item["n"] % 2 else None

    class Numbers(Spider):
        def parse(self, response):
            return [{"n": n} for n in range(6)]

    spider = Numbers()
    chain = SpiderChain([Odd, Odd], spider)
    assert set(chain.figures) == {("Odd", "process_item"), ("Odd#2", "process_item")}

    collect(chain.response(PAGE, spider.parse))

    lower = chain.figures["Odd#2", "process_item"]
    assert (lower.calls, lower.drops, lower.failures) == (6, 2, 1)
    assert lower.seconds > 0.004
    assert chain.figures["Odd", "process_item"].calls == 3
    assert chain.figures["Numbers", "parse"] == HookFigures(
        1, 0, 0, chain.figures["Numbers", "parse"].seconds
    )


def test_only_its_own_time_is_counted_for_a_generator():
    def parse(response):
        for n in range(3):
            gevent.sleep(0.001)
            yield {"n": n}

    chain = SpiderChain([], Spider())
    chain.timed = True
    elsewhere, began = 0.0, perf_counter()
    for _ in chain.response(PAGE, parse):
        left = perf_counter()
        gevent.sleep(0.01)
        elsewhere += perf_counter() - left

    own = perf_counter() - began - elsewhere
    assert 0.003 < chain.figures["Spider", "parse"].seconds <= own


def test_the_chain_shows_its_order():
    spider = type("Quotes", (), {"__repr__": lambda self: "<Quotes>"})()

    chain = SpiderChain([Note("A"), Source], spider)

    assert repr(chain) == "<SpiderChain engine → Note → Source → <Quotes>>"
