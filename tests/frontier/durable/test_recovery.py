"""What a store with many rows is read to by SQL is what it is read to row by row."""

import json
import shutil
from collections import Counter
from contextlib import closing
from random import Random

import pytest

from crawler.data import Request
from crawler.frontier import DONE, Frontier, Next, SqliteJournal, TrapGuard, failed
from crawler.frontier.admission.fingerprint import Fingerprint
from crawler.frontier.durable.recovery import recover
from crawler.frontier.durable.store import Store

from .conftest import Life, answer, take

NEVER, ALWAYS = 10**9, 1
_WAITING = "SELECT host FROM urls WHERE status IS NULL"


def crawl(life, chance, steps):
    """Let anything happen that a crawl may do."""
    for step in range(steps):
        if life.frontier.view.idle or chance.random() < 0.3:
            host, number = chance.choice("abx"), chance.randrange(500)
            life.frontier.admit(Request(f"http://{host}.test/2026/05/{number}?q={step % 7}"))
            continue
        taken, how = take(life.frontier), chance.random()
        if how < 0.1:
            life.frontier.put_back(taken)
            continue
        location = {"location": f"http://b.test/moved/{chance.randrange(300)}"}
        then = answer(life.frontier, taken, *((302,) if how < 0.3 else ()), **location)
        if then is Next.ANALYZE:
            then = DONE if how < 0.9 else failed("parse")
        if then is not Next.AGAIN:
            life.frontier.settle(taken, then)
        if chance.random() < 0.1:
            life.journal.commits.flush()


def read(path, window, many):
    """Return all that a store is read to, and what its filter takes for seen."""
    with closing(Store(path / "state.db")) as store:
        traps = TrapGuard(max_pages_per_host=50)
        found = recover(store, traps, Fingerprint(), window=window, many=many)
        by_host = Counter(host for (host,) in store.rows(_WAITING)) if window == 0 else Counter()
        assert found.by_host == by_host
        keys = [key for (key,) in store.rows("SELECT key FROM urls ORDER BY id")]
        hops = [
            found.fingerprint.of(url)
            for (text,) in store.rows("SELECT redirects FROM urls WHERE redirects IS NOT NULL")
            for url in json.loads(text)
        ]
    seen = [key in found.seen for key in keys + hops]
    waiting = sorted(found.waiting)
    counted = traps._queries._young, traps._dates._young, traps._pages
    return seen, waiting, found.by_host, found.counts, found.figures, found.damaged, counted


def is_covered(path):
    """Return whether the log has the keys of all rows that count as seen."""
    query = "SELECT count(*) FROM urls WHERE status IS NOT 'turned_away'"
    with closing(Store(path)) as store:
        return store.keys.covers(store.commits, *next(store.rows(query)))


def both_ways(path, tmp_path, window):
    """Read two copies of the store: row by row, and by SQL."""
    found = []
    for many in (NEVER, ALWAYS):
        copy = tmp_path / f"copy-{window}-{many}"
        shutil.copytree(path, copy)
        found.append(read(copy, window, many))
    return found


@pytest.mark.parametrize("window", [0, 50_000])
@pytest.mark.parametrize("seed", range(6))
def test_both_ways_find_the_same(tmp_path, seed, window):
    folder = tmp_path / "job"
    folder.mkdir()
    life, chance = Life(folder), Random(seed)
    for is_killed in (True, False, True, False):
        crawl(life, chance, 40)
        life.crash() if is_killed else life.end()
        assert is_covered(life.path)

        by_rows, by_sql = both_ways(folder, tmp_path, window)
        shutil.rmtree(tmp_path / f"copy-{window}-{NEVER}")
        shutil.rmtree(tmp_path / f"copy-{window}-{ALWAYS}")

        assert by_rows == by_sql
        life.begin()
    life.end()


def test_keys_of_a_commit_that_was_not_made_do_not_count_as_seen(tmp_path):
    life = Life(tmp_path)
    life.frontier.admit(Request("http://a.test/"))
    life.journal.commits.flush()
    life.crash()
    with closing(Store(life.path)) as store:
        lost = store.fact("fingerprint")
        key = Fingerprint.from_dict(lost).of("http://a.test/lost")
        store.keys.append(store.commits + 1, [key])

    life.journal = SqliteJournal(life.path, many=ALWAYS)
    seen = life.journal.restore(TrapGuard(), Fingerprint()).seen
    life.journal.close()

    assert len(seen) == 1
    assert key not in seen


@pytest.mark.parametrize("damage", ["missing", "short", "changed"])
def test_a_log_that_is_not_whole_is_written_anew_from_the_rows(tmp_path, damage):
    life = Life(tmp_path)
    crawl(life, Random(7), 60)
    life.end()
    whole = read(tmp_path, 0, ALWAYS)
    log = life.path.with_suffix(".keys")
    content = log.read_bytes()
    changes = {"short": content[:-20], "changed": content[:50] + b"!" + content[51:]}
    log.unlink()
    if damage in changes:
        log.write_bytes(changes[damage])

    assert read(tmp_path, 0, ALWAYS) == whole
    assert is_covered(life.path)


def test_many_rows_that_wait_are_checked_when_their_turn_comes(tmp_path):
    life = Life(tmp_path, window=0)
    for number in range(5):
        life.frontier.admit(Request(f"http://a.test/{number}"))
    life.end()
    life.query("UPDATE urls SET url = 'http://a.test/changed' WHERE url = 'http://a.test/3'")

    life.journal = SqliteJournal(life.path, window=0, many=ALWAYS)
    life.frontier = Frontier(life.scope, journal=life.journal, **life.options)
    taken = {take(life.frontier).request.url for _ in range(4)}
    life.end()

    assert taken == {f"http://a.test/{number}" for number in (0, 1, 2, 4)}
    assert life.query("SELECT reason FROM urls WHERE status = 'failed'") == [("damaged",)]
