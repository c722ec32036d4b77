"""A long queue is on disk: memory stays small, and a job is gone on with in seconds."""

import json
import subprocess
import sys

import pytest

from crawler.frontier import BloomSeen

#: Fills a job, or goes on with it, in a process of its own; tells what that took.
WORK = """
import json, resource, sys, time
import gevent
from crawler.data import Link, Response
from crawler.frontier import DONE, Frontier, Politeness, Scope, SqliteJournal

number, path = int(sys.argv[1]), sys.argv[2]
began = time.monotonic()
journal = SqliteJournal(path, window=int(sys.argv[3]))
opened = time.monotonic()
frontier = Frontier(
    Scope(max_depth=None, accepted_domains=["a.test"]),
    journal=journal,
    politeness=Politeness(robots=False, delay=0.0, per_host=100, latency_factor=0.0),
)
recovered = time.monotonic()
if not frontier.resumed:
    for n in range(number):
        host = f"http://h{n % 500}.a.test/section/{n // 977}"
        frontier.admit(Link(f"{host}/article-{n}.html", 1 + n % 7, f"{host}/"))
        if not n % 200:
            gevent.sleep(0)
else:
    for _ in range(100):
        taken = frontier.take()
        frontier.fetched(taken, Response(taken.request.url, 200, request=taken.request))
        frontier.settle(taken, DONE)
found = {
    "waiting": len(frontier.view),
    "in_memory": len(frontier.view) - journal.overflow.size,
    "open": opened - began,
    "recover": recovered - opened,
    "first": time.monotonic() - recovered,
}
frontier.close()
journal.close()
found["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(found))
"""


def work(number, path, window):
    command = [sys.executable, "-c", WORK, str(number), str(path / "state.db"), str(window)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=1000, check=True)
    return json.loads(ended.stdout)


def test_memory_does_not_grow_with_what_waits(quick_path):
    (quick_path / "few").mkdir()
    (quick_path / "many").mkdir()
    few = work(4_000, quick_path / "few", 1000)
    many = work(20_000, quick_path / "many", 1000)
    again = work(20_000, quick_path / "many", 1000)

    assert many["waiting"] == 20_000
    assert again["waiting"] == 20_000 - 100
    # With so many hosts, each keeps two in any case.
    assert max(many["in_memory"], again["in_memory"]) <= 500 * 2 + 1000
    assert many["megabytes"] <= few["megabytes"] + 30
    assert again["megabytes"] <= few["megabytes"] + 30


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_a_million_urls(tmp_path):
    filled = work(1_000_000, tmp_path, 50_000)
    again = work(1_000_000, tmp_path, 50_000)

    print(filled, again)
    assert filled["waiting"] == 1_000_000
    assert again["waiting"] == 1_000_000 - 100
    assert max(filled["megabytes"], again["megabytes"]) <= 300


def test_keys_that_are_remembered_at_once_are_seen():
    seen = BloomSeen(capacity=100)
    keys = [number.to_bytes(16, "big") for number in range(1000)]

    seen.update(keys)

    assert len(seen) == 1000
    assert not any(seen.add(key) for key in keys)
    assert seen.add((1000).to_bytes(16, "big"))
