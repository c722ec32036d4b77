"""The metrics of a portal, as Prometheus reads them."""

import json
import re
from pathlib import Path
from time import time

import gevent
import pytest
import yaml
from gevent.event import Event
from prometheus_client.parser import text_string_to_metric_families

from crawler.cluster.scheduler_figures import SchedulerFigures
from crawler.portal.metrics import metrics_text
from crawler.portal.scheduler_metrics import SchedulerMetrics
from crawler.portal.store.runs import Runs
from crawler.portal.store.tasks import Task, Tasks
from crawler.testing import LoopbackSite

from .conftest import Client

DOCS = Path(__file__).parents[3] / "docs"


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


#: A portal names all its metrics of a cluster, whether Redis answers or not.
@pytest.mark.parametrize("redis_url", ["redis://127.0.0.1:9"])
def test_the_board_and_the_alerts_use_only_metrics_that_are_there(admin):
    figures = SchedulerFigures(
        is_up=True, fenced=0, rejoins=0, links_sent=0, links_received={}, calls={}
    )
    scheduler = metrics_text(SchedulerMetrics("job", figures)).decode()
    there = set(names_of(admin.ask("/metrics").text + scheduler))
    board = json.loads((DOCS / "grafana-board.json").read_text())
    shown = [target["expr"] for panel in board["panels"] for target in panel.get("targets", ())]
    groups = yaml.safe_load((DOCS / "alerts.yml").read_text())["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    documented = (DOCS / "portal.md").read_text()

    assert len({rule["alert"] for rule in rules}) == len(rules) == 8
    for expression in [*shown, *(rule["expr"] for rule in rules)]:
        used = set(re.findall(r"crawler_\w+", expression))
        assert used
        assert used <= there
    own = {re.sub(r"_(bucket|sum|count|created)$", "", name) for name in there}
    assert own == set(re.findall(r"\bcrawler_\w+", documented)) - {"crawler_"}
    assert all(f"`{rule['alert']}`" in documented for rule in rules)


def names_of(text):
    """Yield the names of the samples that metrics of these types have."""
    for name, kind in re.findall(r"^# TYPE (\w+) (\w+)$", text, re.MULTILINE):
        yield from (f"{name}_{end}" for end in ("bucket", "sum", "count") if kind == "histogram")
        if kind != "histogram":
            yield name


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
    assert found["crawler_portal_runs", ("state", "lost")] == 0
    assert found["crawler_urls_total", job, ("outcome", "done"), ("reason", "")] == 2
    assert found["crawler_urls_pending", job] == 0
    assert found["crawler_responses_total", ("code", "2xx"), job] == 2
    assert found["crawler_portal_cron_lateness_seconds_bucket", ("le", "5.0")] == 1
    assert found["crawler_portal_cron_lateness_seconds_bucket", ("le", "2.0")] == 0
    assert found["crawler_portal_builds_total", ("result", "ready")] == 1
    # The series of a run go ten minutes after its end.
    portal._database.change("UPDATE run SET ended = ended - 601 WHERE id = 1")
    assert not any(job in name for name in read(admin.ask("/metrics").text))
