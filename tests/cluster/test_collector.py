"""Every record once: over crashes of the collector, and over a Redis that is back with less."""

import json
from dataclasses import asdict

import gevent
import pytest

from crawler.cluster.collector import Collector
from crawler.data import Request
from crawler.errors import ClusterError, JobError
from crawler.frontier import DONE, failed
from crawler.job.outputs import Product
from crawler.job.view import JobView

from .shard import holder


class Records:
    """The outputs of a scheduler: one record for each page, with its URL."""

    def collect(self, request_id):
        return Product([{"page": request_id}], [])

    def discard(self, request_id):
        pass


@pytest.fixture
def job(server):
    with holder(server.url) as one:
        one.commits._writing.kill()
        one.open(0, "t0", outputs=Records())
        one.client.hset(one.record.keys.leases[1], "pending", 0)
        yield one


def crawl(job, *names, outcome=DONE):
    frontier = job.shards[0].frontier
    for name in names:
        frontier.admit(Request(f"http://a.test/{name}"))
        frontier.settle(frontier.take(), outcome)
        job.commits.write()
        frontier.admit(Request(f"http://a.test/{name}/open"))  # the job is not finished yet
        job.commits.write()
        frontier.settle(frontier.take(), failed("x"))


def collector(job, tmp_path, **faults):
    made = Collector(
        job.server.url,
        job.record,
        tmp_path / "job",
        lambda directory: directory.open_feed(str(tmp_path / "out.jsonl"), append=False),
    )
    for name, fault in faults.items():
        setattr(made, name, fault)
    return made


def run(job, tmp_path, **faults):
    """Collect all that the log has."""
    one = collector(job, tmp_path, **faults)
    one.stop()
    one.run()
    return one


def records(tmp_path):
    return [json.loads(line)["page"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]


def urls_of(tmp_path):
    with JobView(tmp_path / "job") as view:
        return {story.url for story in view.urls()}


def fail(*_):
    raise JobError("killed here")


def test_it_writes_every_record_once_and_every_end(job, tmp_path):
    crawl(job, "a", "b")
    run(job, tmp_path)
    crawl(job, "c")
    one = run(job, tmp_path)

    assert len(records(tmp_path)) == len(set(records(tmp_path))) == 5
    with JobView(tmp_path / "job") as view:
        assert {story.url: story.status for story in view.urls()} == {
            **{f"http://a.test/{name}": "done" for name in "abc"},
            **{f"http://a.test/{name}/open": "failed" for name in "ab"},
        }
        assert view.why("http://a.test/a#x")[0].status == "done"
        assert asdict(view.counts()) == asdict(one.counts)
        assert one.counts.done == 3


@pytest.mark.parametrize("step", ["written", "committed"])
def test_killed_between_two_steps_it_writes_nothing_twice(job, tmp_path, step, monkeypatch):
    crawl(job, "a")
    run(job, tmp_path)
    crawl(job, "b", "c")
    one = collector(job, tmp_path)
    one.stop()
    if step == "written":
        monkeypatch.setattr("crawler.frontier.durable.store.Store.commit", fail)
    else:
        whole = one._write
        one._write = lambda entries: (whole(entries), fail())
    with pytest.raises(JobError):
        one.run()
    monkeypatch.undo()
    before = records(tmp_path)

    run(job, tmp_path)

    assert len(before) == 5
    assert len(records(tmp_path)) == len(set(records(tmp_path))) == 5


def test_the_log_is_trimmed_except_its_last_entry(job, tmp_path):
    crawl(job, "a", "b", "c")
    run(job, tmp_path)
    keys, client = job.record.keys, job.client

    assert client.xlen(keys.log) == 1
    [(_, fields)] = client.xrange(keys.log)
    size = sum(len(blob) for name, blob in fields.items() if name != b"call")
    assert int(client.hget(keys.job, "log_bytes")) == size


def saved(job):
    client = job.client
    return {key: client.dump(key) for key in job.record.keys.all if client.exists(key)}


def restore(job, old):
    """Let Redis be back with less, in a new life."""
    with job.client.pipeline(transaction=True) as step:
        step.delete(*job.record.keys.all)
        for key, value in old.items():
            step.restore(key, 0, value)
        step.hset(job.record.keys.job, "life", "the life before")
        step.execute()
    keep_running(job)


def keep_running(job):
    """Let a job go on of which all pages are done: a collector would end with it."""
    job.client.hset(job.record.keys.job, "status", "running")


@pytest.mark.parametrize("is_running", [False, True])
def test_it_goes_back_with_redis_and_collects_again_what_redis_has_lost(job, tmp_path, is_running):
    crawl(job, "a")
    run(job, tmp_path)
    old = saved(job)
    kept = records(tmp_path)
    crawl(job, "b", "c")
    keep_running(job)
    one = collector(job, tmp_path)
    if is_running:
        working = gevent.spawn(one.run)
        while one.counts.done < 3:
            gevent.sleep(0.01)
        restore(job, old)
        one._server.life = "the life before"  # this server was not restarted
    else:
        run(job, tmp_path)
        restore(job, old)
        working = gevent.spawn(one.run)
    job.server.life = job.server.begin_life()
    job._drop(job.shards[0])
    job.server.call("mark", [job.record.keys.job], "calm", job.server.life)
    job.open(0, "t1", outputs=Records())
    crawl(job, "x", "y")
    while not working.ready() and "http://a.test/x" not in urls_of(tmp_path):
        gevent.sleep(0.05)
    one.stop()
    working.get(timeout=120)

    assert records(tmp_path)[: len(kept)] == kept
    assert len(records(tmp_path)) == len(set(records(tmp_path)))
    assert "http://a.test/x" in urls_of(tmp_path)
    assert "http://a.test/c" not in urls_of(tmp_path)


def test_with_nothing_in_common_it_stops_and_cuts_nothing(job, tmp_path):
    old = saved(job)
    crawl(job, "a", "b")
    run(job, tmp_path)
    before = records(tmp_path)
    restore(job, old)

    with pytest.raises(ClusterError, match="in question"):
        run(job, tmp_path)

    assert records(tmp_path) == before


def test_a_second_collector_is_kept_out(job, tmp_path):
    one = collector(job, tmp_path)
    working = gevent.spawn(one.run)
    while not one._token:
        gevent.sleep(0.01)

    with pytest.raises(ClusterError, match="another collector"):
        collector(job, tmp_path / "other").run()

    one.stop()
    working.get(timeout=120)


def test_the_directory_of_another_job_is_refused(job, tmp_path, server):
    crawl(job, "a")
    run(job, tmp_path)
    with (
        holder(server.url) as other,
        pytest.raises(ClusterError, match="name another directory"),
    ):
        run(other, tmp_path)
