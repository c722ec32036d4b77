import json

import pytest

from crawler.portal.runs.alarm_hook import AlarmHook, wrong_hook
from crawler.portal.store.alarms import Alarms
from crawler.testing import End, LoopbackSite, Reply, Wire


def test_each_alarm_is_sent_until_it_was_taken(database):
    alarms, bodies, replies = Alarms(database), [], [Reply(500), Reply(204), Reply(204)]
    alarms.add("shop 1.0", "the tag has moved", 1.0, "shop")

    def take(request):
        bodies.append(json.loads(request.body))
        return replies.pop(0)

    with LoopbackSite({"/hook": take}) as site:
        hooks = [AlarmHook(site.url("/hook"), alarms, lambda: "http://portal/") for _ in range(2)]
        with pytest.raises(OSError, match="500"):
            hooks[0].step()
        for hook in hooks:
            hook.step()
        alarms.add("t #1", "stalled", 2.0)
        hooks[1].step()

    first = {"subject": "shop 1.0", "text": "the tag has moved", "since": 1.0, "project": "shop"}
    assert bodies[:2] == [first | {"portal": "http://portal/"}] * 2
    assert [body["subject"] for body in bodies] == ["shop 1.0", "shop 1.0", "t #1"]


def test_an_alarm_stays_unsent_if_the_answer_is_no_http(database):
    alarms = Alarms(database)
    alarms.add("shop 1.0", "moved", 1.0)

    with (
        LoopbackSite({"/hook": Wire(b"220 ready\r\n", End.CLOSE)}) as site,
        pytest.raises(OSError, match="BadStatusLine"),
    ):
        AlarmHook(site.url("/hook"), alarms, str).step()

    assert [alarm.id for alarm in alarms.unsent()] == [1]


def test_an_alarm_that_somebody_has_seen_is_not_sent(database):
    alarms = Alarms(database)
    alarms.add("shop 1.0", "moved", 1.0)
    alarms.see(1, who="anna", now=2.0)

    AlarmHook("http://127.0.0.1:9/", alarms, str).step()


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://a.test/", "x"])
def test_only_http_and_https_are_taken(url):
    assert "needed" in wrong_hook(url)
    assert wrong_hook("https://hooks.example.org/x") == ""
