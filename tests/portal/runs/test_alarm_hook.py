import json

import pytest

from crawler.portal.projects.lease import Lease
from crawler.portal.runs.alarm_hook import AlarmHook, wrong_hook
from crawler.portal.store.alarms import Alarms
from crawler.testing import End, LoopbackSite, Reply, Wire


@pytest.fixture
def alarms(database):
    return Alarms(database)


@pytest.fixture
def hook(alarms, tmp_path):
    """Make what sends the alarms of one of the portals in a directory."""
    hooks = []

    def hook(url):
        hooks.append(AlarmHook(url, alarms, lambda: "http://portal/", Lease(tmp_path / "lock")))
        return hooks[-1]

    yield hook
    for one in hooks:
        one.stop()


def test_each_alarm_is_sent_until_it_was_taken_by_one_portal_at_a_time(alarms, hook):
    bodies, replies = [], [Reply(500), Reply(204), Reply(204)]
    alarms.add("shop 1.0", "the tag has moved", 1.0, "shop")

    def take(request):
        bodies.append(json.loads(request.body))
        return replies.pop(0)

    with LoopbackSite({"/hook": take}) as site:
        first, second = hook(site.url("/hook")), hook(site.url("/hook"))
        with pytest.raises(OSError, match="500"):
            first.step()
        second.step()
        first.step()
        alarms.add("t #1", "stalled", 2.0)
        first.stop()
        second.step()

    moved = {"subject": "shop 1.0", "text": "the tag has moved", "since": 1.0, "project": "shop"}
    assert bodies[:2] == [moved | {"portal": "http://portal/"}] * 2
    assert [body["subject"] for body in bodies] == ["shop 1.0", "shop 1.0", "t #1"]


def test_an_alarm_counts_as_sent_after_its_answer(alarms, hook):
    """A portal that is killed before that sends it again."""
    alarms.add("shop 1.0", "moved", 1.0)
    unsent = []

    def take(_request):
        unsent.append(len(alarms.unsent()))
        return Reply(204)

    with LoopbackSite({"/hook": take}) as site:
        hook(site.url("/hook")).step()

    assert [*unsent, len(alarms.unsent())] == [1, 0]


def test_an_alarm_stays_unsent_if_the_answer_is_no_http(alarms, hook):
    alarms.add("shop 1.0", "moved", 1.0)

    with (
        LoopbackSite({"/hook": Wire(b"220 ready\r\n", End.CLOSE)}) as site,
        pytest.raises(OSError, match="BadStatusLine"),
    ):
        hook(site.url("/hook")).step()

    assert [alarm.id for alarm in alarms.unsent()] == [1]


def test_an_alarm_that_somebody_has_seen_is_not_sent(alarms, hook):
    alarms.add("shop 1.0", "moved", 1.0)
    alarms.see(1, who="anna", now=2.0)

    hook("http://127.0.0.1:9/").step()


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://a.test/", "x"])
def test_only_http_and_https_are_taken(url):
    assert "needed" in wrong_hook(url)
    assert wrong_hook("https://hooks.example.org/x") == ""
