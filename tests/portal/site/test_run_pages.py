"""The pages of real runs."""

import gc
import json
import re

from gevent.hub import Hub

from crawler.portal.store.runs import Runs
from crawler.portal.store.tasks import Task, Tasks


def hubs():
    """Return the hubs of all threads that are not destroyed."""
    return {one for one in gc.get_objects() if isinstance(one, Hub) and one.loop is not None}


def test_what_is_left_of_a_run_can_be_seen(portal, finished, viewer, operator):
    token, before = Runs(portal._database).find(1).token, hubs()

    page = viewer.ask("/runs/1/").text
    assert "t #1" in page
    assert "<dt>Total</dt><dd>3</dd>" in page
    assert "exit code 0: the crawl finished" in page
    assert "Resume this job" not in page  # a viewer may not

    assert 'aria-label="Portal"' in viewer.ask(f"/runs/1/why?url={finished.url('/gone')}").text

    log = viewer.ask("/runs/1/log").text
    assert "live page: http://127.0.0.1:" in log
    assert "depth 1" in viewer.ask("/runs/1/log?words=gone&host=127.0.0.1").text
    assert token not in log

    [link] = re.findall('href="(log[^"]+)">a quality gate was not met', viewer.ask("/runs/2/").text)
    assert "done&lt;3: done is 2" in viewer.ask(f"/runs/2/{link}").text

    records = viewer.ask("/runs/1/output")
    assert "attachment" in records.headers["Content-Disposition"]
    assert len(records.text.splitlines()) == 3

    story = viewer.ask(f"/runs/1/why?url={finished.url('/gone')}").text
    assert "404, 18 B" in story
    assert 'href="/files/style.css"' in story

    figures = json.loads(viewer.ask("/api/v1/runs/1/figures").text)
    assert figures["queue"] == {"left": 0, "total": 3, "success": 3, "failed": 0, "refused": 0}

    listed = json.loads(viewer.ask("/api/v1/runs/1/urls?outcome=done&most=2").text)
    assert [story["url"] for story in listed["urls"]] == [finished.url("/"), finished.url("/a")]
    rest = json.loads(viewer.ask(f"/api/v1/runs/1/urls?after={listed['after']}").text)
    assert [story["url"] for story in rest["urls"]] == [finished.url("/gone")]
    assert len(json.loads(viewer.ask("/api/v1/runs/1/records").text)["records"]) == 3

    compared = viewer.ask("/compare?a=1&b=2").text
    row = '<th scope="row">success</th><td class="n">3</td><td class="n">2</td>'
    assert f'<tr class="differs">{row}' in compared
    assert viewer.ask("/compare?a=1&b=99").status == 404
    assert viewer.ask("/compare?a=x").status == 404

    # A thread that is inside a hub of its own while the interpreter ends crashes the process.
    assert hubs() <= before

    assert [run.exit for run in Runs(portal._database).last()] == [5, 0]
    portal.runner._start_queued = lambda: None
    assert operator.post("/runs/1/pause").status == 409
    assert operator.post("/runs/1/resume").headers["Location"] == "/runs/3/"
    assert Runs(portal._database).find(3).job == 1


def test_a_run_that_waits_can_be_taken_back(portal, operator):
    portal.runner._start_queued = lambda: None
    number = Tasks(portal._database).save(Task("t", urls=("http://127.0.0.1:9/",)), now=0, who="x")
    assert operator.post(f"/tasks/{number}/run").headers["Location"] == "/runs/1/"
    assert "Remove from the queue" in operator.ask("/runs/1/").text

    assert operator.post("/runs/1/stop").status == 303

    assert Runs(portal._database).find(1).state == "stopped"
    done = [row["what"] for row in portal._database.rows("SELECT what FROM audit")]
    assert "asked to stop t #1" in done


def test_runs_are_shown_by_task_and_state(portal, task, viewer, program):
    tasks, runs = Tasks(portal._database), Runs(portal._database)
    other = tasks.save(Task("other", urls=("http://127.0.0.1:9/",)), now=0, who="x")
    numbers = [runs.ask(tasks.find(one), now=0, who="anna") for one in (task, other, task)]
    runs.end(runs.find(numbers[0]), "failed", 1, now=1)

    def shown(query):
        text = viewer.ask(f"/runs?{query}").text
        return [one for one in numbers if f'href="/runs/{one}/"' in text]

    assert shown("") == numbers
    assert shown(f"task={other}") == [numbers[1]]
    assert shown(f"task={task}&state=failed") == [numbers[0]]
    assert shown(f"before={numbers[2]}&state=queued") == [numbers[1]]
    assert "No run is like this" in viewer.ask("/runs?state=%3Cimg").text
    answer = json.loads(program("runs?state=failed").text)
    assert [run["id"] for run in answer["runs"]] == [numbers[0]]


def test_runs_are_shown_in_pages(portal, task, viewer):
    tasks, runs = Tasks(portal._database), Runs(portal._database)
    for _ in range(51):
        runs.ask(tasks.find(task), now=0, who="anna")

    text = viewer.ask("/runs").text

    assert 'href="/runs?task=0&amp;state=&amp;before=2"' in text
    assert text.count('class="name"') == 50
    assert "quotes #1<" in viewer.ask("/runs?task=0&state=&before=2").text
