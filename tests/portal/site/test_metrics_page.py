"""The metrics of a portal, as Prometheus reads them."""

from time import time

import gevent
from gevent.event import Event
from prometheus_client.parser import text_string_to_metric_families

from crawler.portal.store.runs import Runs
from crawler.portal.store.tasks import Task, Tasks
from crawler.testing import LoopbackSite

from .conftest import Client


def read(text):
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_a_token_of_its_scope_reads_the_metrics_and_nothing_else(portal, users, admin, program):
    [user, *_] = portal._visitors.users.all()
    token = portal._visitors.tokens.add(user, "prometheus", "metrics", days=1, now=time())

    bearer = {"Authorization": f"Bearer {token}"}
    assert Client(portal).ask("/metrics", **bearer).status == 200
    assert Client(portal).ask("/metrics").status == 401
    assert program("tasks", scope="metrics").status == 403
    assert admin.ask("/metrics").headers["Content-Type"].startswith("text/plain")


def test_the_hosts_of_a_run_that_goes_on_are_counted(portal, admin):
    tasks, runs, release = Tasks(portal._database), Runs(portal._database), Event()
    with LoopbackSite({"/": lambda _: release.wait(120) and "x"}) as site:
        number = tasks.save(
            Task("home", urls=(site.url(),), settings={"delay": "0", "robots": "false"}),
            now=0,
            who="x",
        )
        runs.ask(tasks.find(number), now=0, who="anna")
        name = ("crawler_hosts", ("job", "home #1"), ("state", "in_flight"))
        try:
            with gevent.Timeout(120):
                while read(admin.ask("/metrics").text).get(name) != 1:
                    gevent.sleep(0.05)
        finally:
            release.set()
        with gevent.Timeout(120):
            while runs.find(1).is_active:
                gevent.sleep(0.05)


def test_runs_timetable_and_builds_are_counted(portal, admin):
    tasks, runs = Tasks(portal._database), Runs(portal._database)
    with LoopbackSite({"/": "<title>Home</title><a href='/a'>a</a>", "/a": "x"}) as site:
        task = Task("home", urls=(site.url(),), settings={"delay": "0"}, cron="0 0 1 1 *")
        number = tasks.save(task, now=0, who="x")
        runs.ask(tasks.find(number), now=0, who="anna")
        with gevent.Timeout(120):
            while runs.find(1).is_active:
                gevent.sleep(0.05)
    portal.runner._start_queued = lambda: None
    portal.runner.lateness.observe(3.0)
    portal.builds.results.labels("ready").inc()
    runs.ask(tasks.find(number), now=0, who="anna")

    found = read(admin.ask("/metrics").text)

    job = ("job", "home #1")
    assert found["crawler_portal_runs", ("state", "finished")] == 1
    assert found["crawler_portal_runs", ("state", "queued")] == 1
    assert found["crawler_urls_total", job, ("outcome", "done"), ("reason", "")] == 2
    assert found["crawler_urls_pending", job] == 0
    assert found["crawler_responses_total", ("code", "2xx"), job] == 2
    assert found["crawler_portal_cron_lateness_seconds_bucket", ("le", "5.0")] == 1
    assert found["crawler_portal_cron_lateness_seconds_bucket", ("le", "2.0")] == 0
    assert found["crawler_portal_builds_total", ("result", "ready")] == 1
    # The series of a run go ten minutes after its end.
    portal._database.change("UPDATE run SET ended = ended - 601 WHERE id = 1")
    assert not any(job in name for name in read(admin.ask("/metrics").text))
