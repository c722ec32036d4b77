import json

import gevent

from crawler.portal.site import event_api as module
from crawler.portal.site.event_api import EventApi
from crawler.portal.store.runs import Runs


def events(text):
    return [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]


def test_a_topic_is_sent_at_first_and_when_it_changes(portal, task, program, monkeypatch):
    monkeypatch.setattr(module, "_INTERVAL", 0.01)
    program(f"tasks/{task}/run", "POST")
    reader = gevent.spawn(program, "events?topics=run:1")
    gevent.sleep(0.2)
    runs = Runs(portal._database)
    runs.end(runs.find(1), "stopped", None, 5.0)

    first, last, end = events(reader.get(timeout=120).text)

    assert first["topic"] == "run:1"
    assert (first["value"]["state"], last["value"]["state"]) == ("queued", "stopped")
    assert end == {}


def test_topics_that_are_not_there_are_refused(program):
    wanted = {"": 400, "run:99": 404, "moon:1": 400, "run:1," * 21: 400}

    found = {topics: program(f"events?topics={topics}").status for topics in wanted}

    assert found == wanted


def test_signs_of_life_and_only_what_has_changed(monkeypatch):
    monkeypatch.setattr(module, "_INTERVAL", 0.001)
    monkeypatch.setattr(module, "_KEEP_ALIVE", 0.0)
    states = {"a": 1, "b": 1}
    read = {"x": lambda name: {"n": states[name], "is_over": states[name] > 1}}
    stream = EventApi(read)._follow({f"x:{name}": json.dumps(read["x"](name)) for name in states})

    assert [next(stream).partition("\n")[0] for _ in range(2)] == ["event: change"] * 2
    assert next(stream) == ": still here\n\n"
    states["b"] = 2
    changed = next(text for text in stream if not text.startswith(":"))
    assert json.loads(changed.splitlines()[1][6:])["topic"] == "x:b"
    states["a"] = 2
    assert list(stream)[-1] == "event: end\ndata: {}\n\n"
