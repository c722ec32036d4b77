"""The buttons of real runs."""

import json

import gevent
from gevent.event import Event

from crawler.portal.store.runs import Runs
from crawler.portal.store.tasks import Task, Tasks
from crawler.testing import LoopbackSite, Reply

from .conftest import SETTINGS, wait_for

SPIDER = """
from crawler import Spider

class Links(Spider):
    name = "links"
    start_urls = [{url!r}]

    def parse(self, response):
        yield {{"url": response.url}}
        yield from response.links()
"""


def test_what_has_failed_is_fetched_again(portal, operator, viewer):
    """A site with two pages that fail: of one reason, the pages are fetched again, and once."""
    tasks, runs = Tasks(portal._database), Runs(portal._database)
    pages = {
        "/": "<a href='/gone'>x</a><a href='/bad'>x</a>",
        "/bad": Reply(500),
        "/gone": Reply(410),
    }
    with LoopbackSite(pages) as site:
        (portal.spiders / "links.py").write_text(SPIDER.format(url=site.url()))
        task = Task("t", spider="links.py:Links", settings=SETTINGS | {"retries": "1"})
        number = tasks.save(task, now=0, who="x")
        wait_for(portal, runs.ask(tasks.find(number), now=0, who="anna"))
        assert 'option value="http_500">http_500 (1)</option>' in operator.ask("/runs/1/").text
        assert "Retry failed" not in viewer.ask("/runs/1/").text

        site.pages["/bad"], before = "<title>B</title>", len(site.requests)
        assert operator.post("/runs/1/retry-failed", {"reason": "a b"}).status == 400
        answer = operator.post("/runs/1/retry-failed", {"reason": "http_500"})
        assert answer.headers["Location"] == "/runs/2/"
        wait_for(portal, 2)

    assert [one.path for one in site.requests[before:]] == ["/bad"]
    assert "what had failed for http_500 again" in viewer.ask("/runs/2/").text
    figures = json.loads(viewer.ask("/api/v1/runs/2/figures").text)
    assert (figures["queue"]["success"], figures["queue"]["failed"]) == (2, 1)


def test_a_job_starts_over_if_it_is_asked_twice(portal, operator, viewer):
    tasks, runs = Tasks(portal._database), Runs(portal._database)
    pages = {"/": "<a href='/a'>x</a>", "/a": "<title>A</title>"}
    with LoopbackSite(pages) as site:
        number = tasks.save(Task("t", urls=(site.url(),), settings=SETTINGS), now=0, who="x")
        wait_for(portal, runs.ask(tasks.find(number), now=0, who="anna"))
        assert 'name="sure" value="yes" required' in operator.ask("/runs/1/").text
        assert "afresh" not in viewer.ask("/runs/1/").text

        assert operator.post("/runs/1/afresh").status == 400
        answer = operator.post("/runs/1/afresh", {"sure": "yes"})
        assert answer.headers["Location"] == "/runs/2/"
        wait_for(portal, 2)

    assert [one.path for one in site.requests] == ["/", "/a"] * 2
    assert runs.find(2).state == "finished"
    records = viewer.ask("/runs/2/output").text.splitlines()
    assert [json.loads(one)["url"] for one in records] == [site.url("/"), site.url("/a")]
    assert ", afresh" in viewer.ask("/runs/2/").text


def test_the_delay_of_a_host_is_set_in_a_run_that_goes_on(portal, operator, viewer, program):
    tasks, runs, release = Tasks(portal._database), Runs(portal._database), Event()
    with LoopbackSite({"/": lambda _: release.wait(120) and "<title>A</title>"}) as site:
        number = tasks.save(Task("t", urls=(site.url(),), settings=SETTINGS), now=0, who="x")
        run = runs.ask(tasks.find(number), now=0, who="anna")
        with gevent.Timeout(120):
            while not site.requests:
                gevent.sleep(0.05)
        assert 'action="delay"' in operator.ask("/runs/1/").text
        assert 'action="delay"' not in viewer.ask("/runs/1/").text

        good = {"host": "127.0.0.1", "seconds": "7.5"}
        assert operator.post("/runs/1/delay", {"host": "<img>", "seconds": "1"}).status == 400
        assert operator.post("/runs/1/delay", good).headers["Location"] == "/runs/1/"
        with gevent.Timeout(120):
            while delays(viewer) != [7.5]:
                gevent.sleep(0.1)
        assert program("runs/1/delay", "POST", given=good | {"seconds": 0}).status == 200
        with gevent.Timeout(120):
            while delays(viewer) != [0]:
                gevent.sleep(0.1)
        release.set()
        wait_for(portal, run)

    assert operator.post("/runs/1/delay", good).status == 409
    done = [row["what"] for row in portal._database.rows("SELECT what FROM audit")]
    assert "asked to set the delay of 127.0.0.1 to 7.5 s in t #1" in done


def delays(client):
    """Return the delays of the hosts that the page of the run has shown last."""
    figures = json.loads(client.ask("/api/v1/runs/1/figures").text)
    return [host["delay"] for host in figures["hosts"]]
