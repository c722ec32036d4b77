import json
from time import time
from types import SimpleNamespace

import gevent
import pytest

from crawler.portal.store.runs import Runs
from crawler.portal.store.tasks import Task, Tasks

from ..conftest import HOSTILE, OVERRIDE
from ..runs.test_log_index import line

ABOUT = {"host": "example.org", "request": "a1", "url": f"http://example.org/{HOSTILE}"}


@pytest.fixture
def logged(portal):
    """A run that goes on, with a log that tests write."""
    portal.runner._start_queued = lambda: None
    tasks, runs = Tasks(portal._database), Runs(portal._database)
    number = tasks.save(Task("t", urls=("http://127.0.0.1:9/",)), now=0, who="x")
    run = runs.find(runs.ask(tasks.find(number), now=1, who="anna"))
    path = portal.path / "runs" / str(run.id)
    path.mkdir(parents=True, exist_ok=True)

    def write(text):
        with (path / "log.txt").open("a") as log:
            log.write(text)

    write(line("began", 1) + line(HOSTILE + OVERRIDE, 2, "ERROR", trace=HOSTILE, **ABOUT))
    return SimpleNamespace(write=write, run=run, end=lambda: runs.end(run, "finished", 0, time()))


def test_the_log_can_be_searched(logged, viewer):
    assert "began" in viewer.ask("/runs/1/log").text
    for found in ("words=owned", "level=WARNING", "host=example.org", "request=a1"):
        page = viewer.ask(f"/runs/1/log?{found}").text
        assert "began" not in page
        assert "<li id=" in page, found
    assert "No line has all of this" in viewer.ask("/runs/1/log?words=nothing").text
    around = viewer.ask("/runs/1/log?around=1").text
    assert 'class="info found"' in around
    since = viewer.ask("/runs/1/log?since=2026-11-18T05:00:02&zone=-60").text
    assert ("began" in since, "<li id=" in since) == (False, True)


def test_hostile_lines_are_text(logged, viewer):
    for route in ("log", "log?words=owned", "log?around=2", "log?words=%3Cimg%20src=x%3E"):
        page = viewer.ask(f"/runs/1/{route}").text
        assert "<img" not in page
        assert "<script>d" not in page
        assert OVERRIDE not in page


def test_older_lines_are_a_click_away(logged, viewer):
    logged.write("".join(line(f"line-{n}", 3) for n in range(300)))

    page = viewer.ask("/runs/1/log?words=line").text
    older = page.partition('<a href="?')[2].partition('"')[0].replace("&amp;", "&")

    assert "line-99" not in page
    assert "line-99" in viewer.ask(f"/runs/1/log?{older}").text


def test_dropped_lines_are_shown(logged, viewer):
    logged.write(line("full", 3, "WARNING", dropped=4096))

    assert "4096 lines of this run were dropped" in viewer.ask("/runs/1/log").text
    assert json.loads(viewer.ask("/api/v1/runs/1/logs").text)["dropped"] == 4096


def test_the_api_returns_pages_of_lines(logged, viewer):
    logged.write(line("last", 3))

    first = json.loads(viewer.ask("/api/v1/runs/1/logs?most=2").text)
    second = json.loads(viewer.ask(f"/api/v1/runs/1/logs?most=2&before={first['before']}").text)

    assert [one["level"] for one in first["lines"]] == ["ERROR", "INFO"]
    assert [one["message"] for one in second["lines"]] == ["began"]
    assert second["before"] == 0
    assert viewer.ask("/api/v1/runs/9/logs").status == 404


def test_the_whole_log_can_be_downloaded(logged, viewer):
    logged.write("printed\n")
    viewer.ask("/runs/1/log")

    answer = viewer.ask("/runs/1/log/download")

    assert answer.headers["Content-Disposition"] == 'attachment; filename="t-1.log.jsonl"'
    lines = [json.loads(text) for text in answer.text.splitlines()]
    assert [one["message"] for one in lines] == ["began", HOSTILE + OVERRIDE, "printed"]
    assert lines[1]["trace"] == HOSTILE


def test_new_lines_are_sent_until_the_run_is_over(logged, viewer):
    reader = gevent.spawn(viewer.ask, "/runs/1/log/events?after=1")
    logged.write(line("while it runs", 3))
    with gevent.Timeout(120):
        while "while it runs" not in viewer.ask("/runs/1/log").text:
            gevent.sleep(0.01)
    logged.write(line("the last", 4))
    logged.end()

    text = reader.get(timeout=120).text

    assert "began" not in text
    assert text.index("while it runs") < text.index("the last") < text.index("event: end")
    assert "<img" not in text
