"""Jobs of a cluster in the portal: a real Valkey, and schedulers that work in this process."""

import json
from contextlib import closing

import gevent
import pytest
from playwright.sync_api import expect
from prometheus_client.parser import text_string_to_metric_families
from pydantic import TypeAdapter

from crawler.cluster.job_record import create_job
from crawler.cluster.redis import connect
from crawler.portal.portal_server import Portal
from crawler.portal.site.answers import ClusterAnswer, ClusterJobAnswer
from crawler.testing import Reply

from ...cluster.joined import PAGES, join
from ...cluster.shard import shared_server
from ...cluster.tree_site import tree_site
from ..conftest import inaccessible, overhang
from .conftest import PASSWORD, Client


@pytest.fixture
def server():
    with closing(connect(shared_server().url)) as client:
        client.flushall()
    return shared_server()


@pytest.fixture
def redis_url(server):
    return server.url


@pytest.fixture
def record(server):
    return create_job(server.url, "job", {}, shards=4, ttl=600.0)


@pytest.fixture
def site():
    """A tree, and a chain of pages that goes on until a test ends it."""
    with tree_site(PAGES) as site:
        site.is_over = False

        def link(request):
            number = int(request.url.rpartition("/")[2])
            more = "" if site.is_over else f'<a href="/chain/{number + 1}">.</a>'
            return Reply(200, body=more, delay=0.02)

        site.pages |= {f"/chain/{number}": link for number in range(20_000)}
        site.pages["/page/0"] = chained(site.pages["/page/0"])
        yield site


def chained(page):
    """Return a page with one link more."""

    def with_link(request):
        reply = page(request)
        return Reply(200, body=reply.body + '<a href="/chain/0">.</a>')

    return with_link


@pytest.fixture
def schedulers(server, record, site):
    """Two schedulers of the job."""
    members = [join(server, record, site) for _ in range(2)]
    yield members
    for _, result in members:
        result.stop()


def job(client):
    return json.loads(client.ask("/api/v1/cluster/job").text)


def job_when(client, is_so):
    with gevent.Timeout(120):
        while not is_so(found := job(client)):
            gevent.sleep(0.05)
    return found


def has_all_shards(found):
    return [one["state"] for one in found["shard_table"]] == ["held"] * 4


def is_done_by(number):
    return lambda found: list(found["asked"]["of"].values()) == ["done"] * number


def test_a_job_is_paused_and_resumed_and_each_scheduler_confirms(portal, operator, schedulers):
    job_when(operator, lambda found: has_all_shards(found) and len(found["schedulers"]) == 2)

    assert operator.post("/cluster/job/pause").status == 303
    paused = job_when(operator, is_done_by(2))
    assert {one["status"] for one in paused["schedulers"]} == {"paused"}
    assert [one["in_flight"] for one in paused["schedulers"]] == [0, 0]
    assert (paused["status"], paused["asked"]["by"]) == ("paused", "operator")
    page = operator.ask("/cluster/job/").text
    assert "done by 2 of 2" in page
    for member, _ in schedulers:
        assert member.leases.id in page

    csrf = {"X-CSRF-Token": operator.csrf}
    answer = operator.ask("/api/v1/cluster/job/resume", "POST", body="", **csrf)
    assert (answer.status, json.loads(answer.text)["status"]) == (200, "running")
    job_when(operator, is_done_by(2))
    rows = portal._database.rows("SELECT what FROM audit WHERE what LIKE '%cluster job job'")
    assert [row["what"].split()[2] for row in rows] == ["pause", "resume"]


def samples(client):
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(client.ask("/metrics").text)
        for sample in family.samples
    }


def test_the_metrics_of_a_job_are_what_redis_has_of_it(server, record, viewer):
    counts = {"admitted": 3, "met": 3, "done": 2, "pending": 1}
    with closing(connect(server.url)) as client:
        lease = {
            "token": "t",
            "takeovers": 2,
            "inbox": 12,
            "counts": json.dumps({"counts": counts}),
        }
        client.hset(record.keys.leases[0], mapping=lease)
        minute_ago = (int(client.time()[0]) - 60) * 1000
        client.xadd(record.keys.log, {"ends": b""}, id=f"{minute_ago}-0")

    found, job = samples(viewer), ("job", "job")

    assert found["crawler_redis_up",] == 1
    states = {dict(key[1:])["state"]: n for key, n in found.items() if key[0] == "crawler_shards"}
    assert states == {"free": 3, "held": 0, "waiting": 1}
    assert found["crawler_takeovers_total", job] == 2
    assert found["crawler_inbox_bytes", job] == 12
    assert found["crawler_collector_lag_seconds", job] >= 60
    assert found["crawler_urls_total", job, ("outcome", "done"), ("reason", "")] == 2
    assert found["crawler_urls_pending", job] == 1


def test_without_an_answer_redis_is_down_and_jobs_have_no_metrics(
    viewer, portal, record, monkeypatch
):
    assert samples(viewer)["crawler_redis_up",] == 1
    monkeypatch.setattr("crawler.portal.runs.cluster_jobs._FRESH", 0)
    jobs_of(portal)._url = "redis://127.0.0.1:9"

    found = samples(viewer)

    assert found["crawler_redis_up",] == 0
    assert not any(("job", "job") in name for name in found)


def jobs_of(portal):
    routes = portal._server.application.view_functions
    return next(page for rule, page in routes.items() if rule == "GET /cluster").__self__._jobs


def test_a_job_is_stopped(operator, schedulers):
    job_when(operator, lambda found: len(found["schedulers"]) == 2)

    operator.post("/cluster/job/stop")
    stopped = job_when(operator, is_done_by(2))

    assert stopped["schedulers"] == []
    for _, result in schedulers:
        result.wait()
    # Nobody is left to restart.
    assert operator.post("/cluster/job/restart").status == 409


def test_restart_ends_each_scheduler_once(operator, schedulers):
    job_when(operator, lambda found: len(found["schedulers"]) == 2)

    operator.post("/cluster/job/restart")
    found = job_when(operator, is_done_by(2))

    assert found["status"] == "running"
    assert [member.is_restarting for member, _ in schedulers] == [True, True]


def test_answers_are_as_they_are_described(operator, schedulers):
    job_when(operator, has_all_shards)

    TypeAdapter(ClusterJobAnswer).validate_json(operator.ask("/api/v1/cluster/job").text)
    TypeAdapter(ClusterAnswer).validate_json(operator.ask("/api/v1/cluster").text)
    queue = job(operator)["queue"]
    assert queue["total"] == sum(queue[name] for name in ("left", "success", "failed", "refused"))


def test_a_viewer_sees_and_an_operator_steers(viewer, stranger, record):
    assert "Pause" not in viewer.ask("/cluster/job/").text
    assert viewer.post("/cluster/job/pause").status == 403
    assert stranger.ask("/api/v1/cluster/job").status == 401
    assert stranger.ask("/cluster/job/").status == 303
    assert viewer.ask("/cluster/other/").status == 404
    assert viewer.ask("/cluster/<b>/").status == 404


def test_while_redis_is_away_the_last_figures_are_shown_as_old(portal, viewer, record, monkeypatch):
    assert "These figures are of" not in viewer.ask("/cluster/job/").text
    monkeypatch.setattr("crawler.portal.runs.cluster_jobs._FRESH", 0)
    jobs_of(portal)._url = "redis://:s3same@127.0.0.1:9"

    for route in ("/cluster/job/", "/cluster"):
        page = viewer.ask(route).text
        assert "no answer from redis://" in page
        assert "s3same" not in page
    assert json.loads(viewer.ask("/api/v1/cluster/job").text)["away"]
    assert viewer.ask("/cluster/other/").status == 503


def test_a_portal_without_a_redis_says_what_to_do(tmp_path):
    portal = Portal(tmp_path / "alone", tmp_path)
    portal._visitors.users.add("admin", PASSWORD, "admin")
    portal.start()
    try:
        client = Client(portal).sign_in("admin")
        assert "--redis redis://" in client.ask("/cluster").text
        assert client.ask("/cluster/job/").status == 404
        assert json.loads(client.ask("/api/v1/cluster").text) == {"jobs": []}
    finally:
        portal.stop()


def test_in_a_browser(portal, users, tab, schedulers, site):
    tab.goto(portal.url)
    tab.get_by_label("Name").fill("admin")
    tab.get_by_label("Password").fill(PASSWORD)
    tab.get_by_role("button", name="Sign in").click()
    tab.get_by_role("link", name="Cluster").click()
    expect(tab.get_by_role("table").last).to_contain_text("appendonly")
    tab.set_viewport_size({"width": 360, "height": 800})
    assert overhang(tab) <= 0
    tab.get_by_role("link", name="job", exact=True).click()
    # Both hold shards; the page changes by itself.
    expect(tab.locator("#schedulers tbody tr")).to_have_count(2)
    expect(tab.locator("#shards .state.held")).to_have_count(4)
    tab.get_by_role("button", name="Pause").click()
    expect(tab.locator("#confirmed")).to_have_text("done by 2 of 2")
    expect(tab.locator("#status .state")).to_have_text("paused")
    for width in (360, 768, 1280):
        tab.set_viewport_size({"width": width, "height": 800})
        assert overhang(tab) <= 0, width

    site.is_over = True
    tab.get_by_role("button", name="Resume").click()
    expect(tab.locator("#status .state")).to_have_text("finished")
    expect(tab.locator("#queue dd").first).to_have_text("0")
    expect(tab.get_by_role("button", name="Pause")).to_have_count(0)


def test_the_pages_can_be_used_by_everybody(portal, users, browser, schedulers):
    context = browser.new_context(color_scheme="dark", bypass_csp=True)
    context.set_default_timeout(120_000)
    tab = context.new_page()
    tab.goto(portal.url)
    tab.get_by_label("Name").fill("admin")
    tab.get_by_label("Password").fill(PASSWORD)
    tab.get_by_role("button", name="Sign in").click()
    for route in ("cluster", "cluster/job/"):
        tab.goto(portal.url + route)
        assert inaccessible(tab) == {}, route
    context.close()
