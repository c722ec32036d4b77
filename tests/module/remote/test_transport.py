"""A remote analyzer works over anything that implements Transport."""

from collections import deque
from contextlib import contextmanager

import gevent
import pytest

from crawler.data import Request, Response
from crawler.errors import AnalyzeError, TimeLimit
from crawler.module import RemoteAnalyzer
from crawler.module.remote.frames import FrameParser, pack
from crawler.module.remote.transport import Disconnected, Transport, defer_time_limit

PAGE = Response("http://site.test/", 200, {}, b"body", Request("http://site.test/"))


class Scripted(Transport):
    """A worker that is ready, sends *messages*, and then ends."""

    def __init__(self, *messages):
        self.pid, self.dead = 7, False
        self.calls, self.sent = [], FrameParser()
        self._messages = deque([{"ready": True}, *messages])

    @contextmanager
    def call(self, message, body):
        self.calls.append((list(message), body))
        yield

    def send(self, frame):
        self.sent.add(frame)

    def receive(self):
        if not self._messages:
            self.dead = True
            raise Disconnected("the script is over", at_work=True)
        return self._messages.popleft(), b""

    def restart_clock(self):
        pass

    def close(self, timeout):
        self.dead = True
        return {"last": timeout > 0}


def analyzer_over(*workers, fetch=None):
    return RemoteAnalyzer(iter(workers).__next__, pack({"hello": 1}), fetch)


def test_an_analyzer_greets_its_worker_and_calls_it_with_the_page():
    worker = Scripted({"found": [{"item": {"n": 1}}]}, {"end": True, "found": ["/a"]})
    analyzer = analyzer_over(worker)

    item, links = analyzer.analyze(PAGE)

    assert (item.value, links.urls) == ({"n": 1}, ["/a"])
    assert worker.sent.take() == ({"hello": 1}, b"")
    assert worker.calls == [(["page"], b"body")]
    assert analyzer.summary().extra == {"pid": 7, "restarts": 0}
    assert analyzer.close() == {"last": True}


def test_what_a_worker_asks_for_is_sent_to_it():
    worker = Scripted({"fetch": {"url": "http://site.test/more"}}, {"end": True})
    analyzer = analyzer_over(
        worker, fetch=lambda request: Response(request.url, 200, {}, b"more", request)
    )

    assert list(analyzer.analyze(PAGE)) == []

    worker.sent.take()
    message, body = worker.sent.take()
    assert (list(message), body) == (["fetched"], b"more")


def test_the_next_worker_continues_where_the_last_one_ended():
    first = Scripted({"found": [{"item": {"n": 1}}]})
    second = Scripted({"found": [{"item": {"n": 1}}, {"item": {"n": 2}}], "end": True})
    analyzer = analyzer_over(first, second)

    assert [item.value for item in analyzer.analyze(PAGE)] == [{"n": 1}, {"n": 2}]
    assert analyzer.restarts == 1


def test_a_page_that_ends_two_workers_has_crashed():
    analyzer = analyzer_over(Scripted(), Scripted())

    with pytest.raises(AnalyzeError, match="the script is over") as caught:
        list(analyzer.analyze(PAGE))

    assert caught.value.kind == "crashed"


def test_a_time_limit_that_expires_while_others_are_served_is_not_raised():
    waits = []

    def wait():
        waits.append(1)
        gevent.sleep(0.05 if len(waits) == 1 else 0)
        return "done"

    with gevent.Timeout(0.01, TimeLimit(0.01)):
        assert defer_time_limit(wait) == "done"

    assert len(waits) == 2
