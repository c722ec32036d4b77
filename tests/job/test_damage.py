"""A damaged state is refused with a clear error, or mended and counted; never taken for the truth."""

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from random import Random

import gevent
import pytest

from crawler.data import Request
from crawler.errors import JobError
from crawler.frontier.durable import rows

FILES = ("state.db", "state.db-wal", "state.marker")
LAST = 4096


@dataclass
class Snapshot:
    """
    The files of a job that was killed in the middle, part in the file and part in the log.

    A file that is damaged is the one that counts: what is in the log hides what is in the file.
    """

    files: dict
    done: set

    def put(self, path, **damaged):
        files = self.files | {"state.db-wal": b""} if "state.db" in damaged else self.files
        for name, content in (files | damaged).items():
            (path / name).write_bytes(content)
        (path / "state.db-shm").unlink(missing_ok=True)


@pytest.fixture
def snapshot(session):
    with session:
        for _ in range(40):
            session.web.visit(session.frontier)
        session.journal.commits.flush()
        for _ in range(30):
            session.web.visit(session.frontier)
            session.journal.commits.flush()
        files = {name: (session.path.parent / name).read_bytes() for name in FILES}
        session.crash()
    # By now the log has been moved into the file; it may be there twice.
    files["state.db"] = session.path.read_bytes()
    assert len(files["state.db"]) > 2 * LAST
    assert len(files["state.db-wal"]) > 2 * LAST
    return Snapshot(files, session.done())


def result(session, snapshot):
    """
    Go on with what is there, and return how it went: refused, mended, gone back, or as before.

    Whatever happens, what is missing is reported.
    """
    refusal = None
    try:
        with session:
            session.finish()
    except JobError as error:
        refusal = str(error)
    if refusal is not None:
        assert refusal.startswith(f"{session.path} is damaged (")
        assert refusal.endswith("put a copy back, or start over with --fresh")
        return "refused"
    found = session.recovered
    done = session.done()
    # What only a page that was set aside links to is not found.
    linked = {session.web.start}.union(
        *(session.web.links[url] for url in done & set(session.web.links))
    )
    missing = (set(session.web.address) - done) & linked
    assert session.frontier.view.counts().pending == 0
    assert len(missing) <= found.damaged
    assert session.frontier.view.counts().failed.get("damaged", 0) <= found.damaged
    if found.counts.done < len(snapshot.done):
        assert found.lost_commits is None or found.lost_commits or found.damaged
    return "mended" if found.damaged else "gone back" if found.lost_commits else "as before"


def results(session, snapshot, damages):
    seen = {}
    for damaged in damages:
        snapshot.put(session.path.parent, **damaged)
        seen.setdefault(result(session, snapshot), []).append(damaged)
        gevent.sleep(0)
    return seen


def cut(snapshot, name, sizes):
    content = snapshot.files[name]
    return ({name: content[:-size]} for size in sizes)


def flipped(snapshot, number, seed=0):
    chance = Random(seed)
    names = [name for name in FILES for _ in range(1 if name == "state.marker" else 8)]
    for _ in range(number):
        name = chance.choice(names)
        content = bytearray(snapshot.files[name])
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        yield {name: bytes(content)}


def test_an_undamaged_state_is_as_before(session, snapshot):
    assert list(results(session, snapshot, [{}])) == ["as before"]


def test_a_state_that_is_cut_off_is_never_taken_for_whole(session, snapshot):
    sizes = [1, 2, 3, 511, 512, 4095, *Random(4).sample(range(LAST), 6)]

    assert results(session, snapshot, cut(snapshot, "state.db", sizes)).keys() <= {
        "refused",
        "mended",
        "as before",
    }


def test_a_log_that_is_cut_off_costs_the_last_commits(session, snapshot):
    sizes = [1, 2, 4095, LAST, 3 * LAST, *Random(4).sample(range(1, LAST), 6)]

    seen = results(session, snapshot, cut(snapshot, "state.db-wal", sizes))

    assert seen.keys() == {"gone back"}


def test_flipped_bits_are_found(session, snapshot):
    seen = results(session, snapshot, flipped(snapshot, 50))

    assert {"refused", "mended", "gone back"} <= seen.keys()


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", ["state.db", "state.db-wal"])
def test_every_byte_of_the_last_ones_can_be_missing(session, snapshot, name):
    seen = results(session, snapshot, cut(snapshot, name, range(1, LAST + 1)))

    print({kind: len(damages) for kind, damages in seen.items()})


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_a_thousand_flipped_bits_are_found(session, snapshot):
    seen = results(session, snapshot, flipped(snapshot, 1000, seed=1))

    print({kind: len(damages) for kind, damages in seen.items()})


@pytest.mark.parametrize("left", [b"", b"SQLite format 3\0", b"junk" * 3000])
def test_a_state_that_is_gone_is_no_reason_to_start_over(session, snapshot, left):
    snapshot.put(session.path.parent, **{"state.db": left})

    with pytest.raises(JobError, match=r"state\.db is damaged .*--fresh"), session:
        pass


def test_a_state_that_was_removed_is_missed(session, snapshot):
    snapshot.put(session.path.parent)
    session.path.unlink()

    with pytest.raises(JobError, match="commits are missing"), session:
        pass


def test_another_version_is_refused(session, snapshot):
    snapshot.put(session.path.parent)
    with closing(sqlite3.connect(session.path)) as connection:
        connection.execute("PRAGMA user_version = 7")

    with pytest.raises(JobError, match="has format 7, and this version reads format 3: go on with"):
        session.__enter__()


def test_another_kind_of_file_is_refused(session):
    with closing(sqlite3.connect(session.path)) as connection:
        connection.execute("CREATE TABLE recipes (name)")

    with pytest.raises(JobError, match="has format none"):
        session.__enter__()


# -- rows that somebody else has written ---------------------------------------------------------


class Opened:
    """Unpickled, this would leave a mark."""

    def __reduce__(self):
        return open, ("opened", "w")


def row(number, *, seal=None, progress=None, **changes):
    known = {
        "id": number,
        "key": number.to_bytes(16, "big"),
        "url": f"http://a.test/foreign/{number}",
        "host": "a.test",
        "depth": 1,
        "priority": 0,
        "found_on": None,
        "more": None,
    } | changes
    return (*known.values(), 0.0, seal or rows.seal(*known.values()), progress)


def plant(session, *planted):
    statement = (
        "INSERT INTO urls (id, key, url, host, depth, priority, found_on, more, met, seal, progress)"
        f" VALUES ({','.join('?' * 11)})"
    )
    with closing(sqlite3.connect(session.path)) as connection, connection:
        connection.executemany(statement, planted)


PICKLE = b"\x80\x04\x8c\x02io\x8c\x04open\x93\x8c\x06opened\x8c\x01w\x86R."
JUNK = {
    "no JSON": {"more": "{junk"},
    "a list": {"more": "[1, 2]"},
    "a field that there is not": {"more": '{"colour": "blue"}'},
    "a pickle": {"more": PICKLE},
    "a pickle as a body": {"more": json.dumps({"body": PICKLE.hex()})},
    "no callback": {"more": '{"callback": 7}'},
    "a callback that is code": {"more": '{"callback": "os.system(1)"}'},
    "headers that are none": {"more": '{"headers": [["a b", "c\\nd"]]}'},
    "meta that is none": {"more": '{"meta": 5}'},
    "ten megabytes": {"more": "x" * 10_000_000},
    "a depth below zero": {"depth": -1},
    "a depth that is text": {"depth": "deep"},
    "a priority that is text": {"priority": "high"},
    "a priority that is a list of bytes": {"priority": b"\xff"},
    "no URL": {"url": ""},
    "a URL that is bytes": {"url": b"http://a.test/"},
    "a URL that is none": {"url": "mailto:somebody"},
    "a host that is bytes": {"host": b"a.test"},
    "a short key": {"key": b"1"},
    "a key that is text": {"key": "x" * 16},
    "progress that is none": {"progress": "[1"},
    "progress of another": {"progress": '["http://a.test/x", [], [], 5]'},
    "progress that is a number": {"progress": "5"},
}


@pytest.mark.parametrize("window", [50_000, 1], ids=["in memory", "on disk"])
@pytest.mark.parametrize("seal", [None, 1], ids=["sealed", "unsealed"])
def test_foreign_rows_are_set_aside_and_never_run(session, monkeypatch, seal, window):
    monkeypatch.chdir(session.path.parent)
    session.window = window
    with session:
        session.web.visit(session.frontier)
    numbered = enumerate(JUNK.values(), 10**6)
    plant(session, *(row(number, seal=seal, **junk) for number, junk in numbered))
    for number in range(10**6, 10**6 + len(JUNK)):
        session.web.links[f"http://a.test/foreign/{number}"] = []

    with session:
        session.finish()
        counts = session.frontier.view.counts()

    assert session.done() >= set(session.web.address)
    ended = counts.done + counts.failed.get("damaged", 0) + sum(counts.refused.values())
    assert ended == 120 + len(JUNK)
    assert not (session.path.parent / "opened").exists()
    if seal is not None:  # the progress of a request is not part of its seal
        sealed = [junk for junk in JUNK.values() if "progress" not in junk]
        assert set(counts.failed) == {"damaged"}
        assert counts.failed["damaged"] >= len(sealed)


def test_a_row_that_is_set_aside_is_counted_once(session):
    with session:
        session.web.visit(session.frontier)
    plant(session, row(10**6, seal=1))

    with session:
        assert session.recovered.damaged == 1
    with session:
        assert session.recovered.damaged == 0
        assert session.frontier.view.counts().failed == {"damaged": 1}


def test_text_that_is_none_costs_its_row_only(session):
    with session:
        session.web.visit(session.frontier)
    with closing(sqlite3.connect(session.path)) as connection, connection:
        connection.execute("UPDATE urls SET url = CAST(x'ff' AS TEXT) WHERE status = 'done'")

    with session:
        session.finish()

    assert session.recovered.damaged == 1
    assert len(session.done()) == 120


def test_text_that_no_file_can_keep_does_not_stop_a_job(session):
    alone = "\ud800"
    with session:
        session.frontier.admit(
            Request("http://a.test/x", meta={"title": alone}, found_on=f"http://a.test/{alone}")
        )
        session.journal.commits.flush()

    with session:
        requests = [session.frontier.take().request for _ in range(2)]

    [found] = [request for request in requests if request.url == "http://a.test/x"]
    assert found.meta == {"title": alone}


def test_a_number_that_no_file_can_keep_ends_the_job_with_an_error(session):
    with session:
        session.frontier.admit(Request("http://a.test/x", priority=10**30))

        with pytest.raises(JobError, match="too large"):
            session.journal.commits.flush()
