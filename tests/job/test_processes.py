"""What one process leaves to the next: the lock, what SIGTERM lets it finish, what it was stuck on."""

import json
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import gevent
import pytest
from gevent import subprocess as cooperative

from crawler.bench.kill.killed_crawl import ARCHIVE, FEEDS, SETTINGS
from crawler.bench.kill.moments import after
from crawler.bench.kill.slow_site import SlowSite
from crawler.bench.kill.trial import Trial
from crawler.errors import JobError
from crawler.frontier.durable.crash_marker import CrashMarker
from crawler.job.directory import Job
from crawler.settings import Settings
from crawler.testing import LoopbackSite, Reply, generated_site

#: Seconds that a process may take to end, on a busy machine too.
GRACE = 120


# -- SIGTERM ------------------------------------------------------------------------------------


def moment(trial, child):
    """Come in start-up now and then, and otherwise after one more request or after twenty."""
    if trial.rng.random() < 0.2:
        yield from after(trial.rng.uniform(0.0, 0.7))
        return
    number = len(trial.site.requests) + trial.rng.randint(1, 20)
    while len(trial.site.requests) < number:
        yield


def terminated(trial):
    """Send SIGTERM at some moment; return the exit code, within the grace period."""
    child = trial.start()
    with gevent.Timeout(GRACE):
        for _ in moment(trial, child):
            if child.poll() is not None:
                break
            gevent.sleep(0.0005)
    child.send_signal(signal.SIGTERM)
    _, complaints = child.communicate(timeout=GRACE)
    assert b"Traceback" not in complaints
    return child.returncode


class CommandLine(Trial):
    """The same crawl by ``crawler crawl``."""

    @property
    def command(self):
        feeds = [option for name in FEEDS for option in ("-o", str(self.folder / name))]
        given = Settings.load(code=SETTINGS).explain(*SETTINGS)
        settings = [
            word for one in given for word in ("-s", f"{one.name}={one.type.write(one.value)}")
        ]
        options = [*feeds, *settings, "--warc", str(self.folder / ARCHIVE)]
        command = [sys.executable, "-m", "crawler", "crawl", self.site.url()]
        return [*command, "--job", str(self.folder), *options]


def survives_sigterm(path, site, number, seed):
    trial = CommandLine(path, site.served(), random.Random(seed))
    with trial.site:
        codes = [terminated(trial) for _ in range(number)]
        trial.finish(trial.start())
    found = trial.check()

    # 3 says that it was stopped early; before it listens, a signal just ends a process.
    assert set(codes) <= {0, 3, -signal.SIGTERM}
    assert (trial.problems, found.lost, found.doubled) == ([], 0, 0)
    assert (found.exchanges_lost, found.exchanges_doubled) == (0, 0)
    if -signal.SIGTERM not in codes:
        assert trial.refetched == 0
    else:
        assert trial.hits["/"] <= 2
    return codes


def test_sigterm_loses_nothing(tmp_path):
    assert 3 in survives_sigterm(tmp_path, SlowSite(80, 0.02), 2, 1)


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_fifty_sigterms_lose_nothing(tmp_path):
    codes = [survives_sigterm(tmp_path / str(n), SlowSite(), 1, f"long {n}")[0] for n in range(50)]

    print({code: codes.count(code) for code in set(codes)})


# -- the lock -----------------------------------------------------------------------------------

HOLD = """
import sys, time
from crawler.job.directory import Job
job = Job(sys.argv[1])
print("held", flush=True)
time.sleep(60)
"""


def test_a_second_process_is_refused_until_the_first_is_killed(tmp_path):
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    with child, gevent.Timeout(120):
        assert child.stdout.readline() == "held\n"
        with pytest.raises(JobError, match=f"is in use by process {child.pid} on"):
            Job(tmp_path)
        child.kill()
        child.wait()

    with Job(tmp_path) as job:
        assert job.recovered is None


def test_a_job_that_could_not_be_opened_lets_go_of_its_directory(tmp_path):
    (tmp_path / "state.db").write_bytes(b"no database" * 1000)
    with pytest.raises(JobError, match="is damaged"):
        Job(tmp_path)

    Job.clear(tmp_path)

    with Job(tmp_path) as job:
        assert job.outputs.feeds == []


# -- strikes ------------------------------------------------------------------------------------

SPIDER = """
import os, signal, sys, time
import gevent
from crawler import Spider, crawl
from crawler.job.directory import Job


class Fragile(Spider):
    def parse(self, response):
        yield {"url": response.url}
        yield from response.links()
        if response.url.endswith("/page/3"):
            AT_PAGE_3
        AT_OTHERS


with Job(sys.argv[1]) as job:
    job.open_feed(sys.argv[1] + "/pages.jsonl")
    job.on_stuck = job.journal.marks.end_process
    result = crawl(
        Fragile(start_urls=[sys.argv[2]]), job=job, depth=None, delay=0, robots=False,
        time_limit=float(sys.argv[3]),
    )
sys.exit(result.exit_code)
"""
NEVER = 1000
#: Seconds that no other page takes, on a busy machine either; a callback is stuck after three times as many.
LIMIT = 1
#: What a callback does, the limit of its time, and the exit code.
FATAL = {
    "exits": ("os._exit(9)", NEVER, 9),
    "is killed": ("os.kill(os.getpid(), signal.SIGKILL)", NEVER, -signal.SIGKILL),
    "spins": ("while True: pass", LIMIT, 7),
    "sleeps in C": ("time.sleep(60)", LIMIT, 7),
}


@pytest.fixture
def site():
    pages = generated_site(pages=30, size=1500)
    with LoopbackSite({path: Reply(body=pages[path], delay=0.01) for path in pages}) as site:
        yield site


def run(path, site, at_page_3, limit=NEVER, at_others="pass"):
    code = SPIDER.replace("AT_PAGE_3", at_page_3).replace("AT_OTHERS", at_others)
    command = [sys.executable, "-c", code, str(path), site.url(), str(limit)]
    return cooperative.run(command, capture_output=True, text=True, timeout=GRACE, check=False)


def outcomes(path):
    with closing(sqlite3.connect(path / "state.db")) as connection:
        rows = connection.execute("SELECT status, reason, count(*) FROM urls GROUP BY 1, 2")
        return {(status, reason): count for status, reason, count in rows}


@pytest.mark.parametrize(
    "ends", [("exits", "spins", "exits"), ("sleeps in C", "is killed", "is killed")], ids=" ".join
)
def test_a_page_that_ends_three_processes_is_set_aside(tmp_path, site, ends):
    """In whichever ways it does that; a process after them does without it."""
    for end in ends:
        statement, limit, code = FATAL[end]
        ended = run(tmp_path, site, statement, limit)
        assert ended.returncode == code, ended.stderr
        if limit == LIMIT:
            assert "/page/3 " in ended.stderr
            assert "run the same command to continue" in ended.stderr

    # An end does not count if it came before the page was committed, and others were analysed with it.
    for _ in range(3):
        last = run(tmp_path, site, *FATAL[ends[-1]][:2])
        if last.returncode == 1:
            break

    assert last.returncode == 1, last.stderr
    assert outcomes(tmp_path) == {("done", ""): 29, ("failed", "quarantined"): 1}
    urls = [json.loads(line)["url"] for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    assert len(urls) == len(set(urls)) == 29


def test_a_start_page_that_ends_each_process_at_once_is_set_aside(tmp_path, site):
    """Only its first end does not count, since nothing had been committed: from then on it is, first."""
    ended = [run(tmp_path, site, "pass", at_others="os._exit(9)") for _ in range(5)]

    assert [one.returncode for one in ended] == [9, 9, 9, 9, 1], ended[-1].stderr
    assert outcomes(tmp_path) == {("failed", "quarantined"): 1}


def test_a_kill_now_and_then_sets_nothing_aside(tmp_path, site):
    """Two strikes are not three."""
    for statement in ("os._exit(9)", "os._exit(9)", "pass"):
        run(tmp_path, site, statement)

    assert outcomes(tmp_path) == {("done", ""): 30}


#: Page 3 ends the process while another page is under analysis.
TOGETHER = "self.waits = True; gevent.get_hub().switch()"
BESIDE = """if hasattr(self, "waits"):
            job.journal.commits.flush()
            os._exit(9)"""


def test_only_the_page_that_ends_the_process_is_set_aside(tmp_path, site):
    """Others that were under analysis at that moment are tried alone, and come to their end."""
    ended = [run(tmp_path, site, TOGETHER, at_others=BESIDE)]
    with closing(CrashMarker(tmp_path / "state.marker")) as marker:
        assert len(marker.rows) > 1, "no other page was under analysis: the test shows nothing"
    ended += [run(tmp_path, site, "os._exit(9)") for _ in range(3)]

    assert [one.returncode for one in ended] == [9, 9, 9, 1], ended[-1].stderr
    assert outcomes(tmp_path) == {("done", ""): 29, ("failed", "quarantined"): 1}
    with closing(sqlite3.connect(tmp_path / "state.db")) as connection:
        [(url,)] = connection.execute("SELECT url FROM urls WHERE reason = 'quarantined'")
    assert url.endswith("/page/3")
