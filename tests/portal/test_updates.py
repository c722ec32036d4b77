import json
from itertools import pairwise

import gevent
import pytest

from crawler.portal import updates as module
from crawler.portal.updates import Updates


@pytest.fixture
def sections():
    return {"a": "1", "b": "1"}


@pytest.fixture
def updates(sections, monkeypatch):
    monkeypatch.setattr(module, "_INTERVAL", 0.0)
    monkeypatch.setattr(module, "_SHARE", 1e9)
    return Updates(lambda: dict(sections))


def content(event):
    lines = dict(line.split(": ", 1) for line in event.strip().split("\n"))
    return int(lines["id"]), json.loads(lines["data"])


def test_a_browser_gets_only_what_has_changed(updates, sections):
    events = updates.watch(0)

    first, everything = content(next(events))
    sections["b"] = "2"
    updates.publish()
    second, changed = content(next(events))

    assert everything == {"a": "1", "b": "1"}
    assert changed == {"b": "2"}
    assert second > first


def test_a_browser_that_was_away_gets_what_it_has_missed(updates, sections):
    one = updates.watch(0)
    seen, _ = content(next(one))
    for text in ("2", "3"):
        sections["a"] = text
        updates.publish()

    _, missed = content(next(updates.watch(seen)))

    assert missed == {"a": "3"}


def test_nothing_is_rendered_while_nobody_watches(sections):
    rendered = []
    updates = Updates(lambda: rendered.append(1) or sections)
    events = updates.watch(0)
    next(events)
    events.close()
    before = len(rendered)

    for _ in range(5):
        updates.publish()

    assert updates.watchers == 0
    assert len(rendered) == before


def test_it_renders_at_most_once_a_second(sections, monkeypatch):
    monkeypatch.setattr(module, "monotonic", lambda: 1000.0)
    rendered = []
    updates = Updates(lambda: rendered.append(1) or sections)
    events = updates.watch(0)
    next(events)
    before = len(rendered)

    for _ in range(100):
        updates.publish()

    assert len(rendered) - before == 1


def test_no_page_is_old_however_slow_rendering_is(sections, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    rendered = []

    def render():
        rendered.append(now[0])
        now[0] += 2.0  # seconds that it takes
        return sections

    updates = Updates(render)
    events = updates.watch(0)
    next(events)
    for _ in range(100):
        updates.publish()
        now[0] += 1.0

    assert len(rendered) > 8
    assert max(after - before for before, after in pairwise(rendered)) <= 13.0


def test_slow_rendering_makes_updates_rare(sections, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    rendered = []

    def render():
        rendered.append(now[0])
        now[0] += 0.05  # seconds that it takes
        return sections

    updates = Updates(render)
    events = updates.watch(0)
    next(events)
    for _ in range(200):
        updates.publish()
        now[0] += 0.1

    assert len(rendered) - 1 == 4  # in 20 s: one every 5 s


def test_a_silent_connection_is_kept_alive(updates, monkeypatch):
    monkeypatch.setattr(module, "_KEEP_ALIVE", 0.01)
    events = updates.watch(0)
    next(events)

    with gevent.Timeout(120):
        assert next(events).startswith(":")


def test_the_last_figures_end_the_stream(updates, sections):
    events = updates.watch(0)
    next(events)
    sections["a"] = "last"
    updates.publish(last=True)

    assert content(next(events))[1] == {"a": "last"}
    assert next(events).startswith("event: end")
    assert next(events, None) is None
    assert updates.watchers == 0


def test_all_browsers_are_woken(updates, sections):
    streams = [updates.watch(0) for _ in range(3)]
    for events in streams:
        next(events)
    waiting = [gevent.spawn(next, events) for events in streams]
    gevent.idle()
    sections["a"] = "2"

    updates.publish()

    gevent.joinall(waiting, timeout=120, raise_error=True)
    assert {content(one.value)[1]["a"] for one in waiting} == {"2"}
