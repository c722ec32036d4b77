"""The contract of all feeds."""

import errno
import json
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random

import gevent
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.data import Item, Request
from crawler.errors import StateError
from crawler.feed import Feed, FeedError, as_record
from crawler.module import Pipeline

from ..cpu_time import cpu_of

RECORDS = [{"n": n, "name": f"record {n}"} for n in range(10)]


def expected(kind, records):
    return [kind.expected(record) for record in records]


# -- what goes in comes out -------------------------------------------------------------------


def test_records_are_read_back_in_their_order(kind, home):
    kind.write(home, RECORDS)

    assert kind.read(home) == expected(kind, RECORDS)


def test_a_feed_is_a_processor_that_passes_on_what_it_wrote(kind, home):
    @dataclass
    class Quote:
        text: str

    quote = Quote("To be")
    with kind.open(home) as feed:
        item = Pipeline(feed).send(Item(quote, Request("http://site.test/")))

    assert item is not None
    assert item.value is quote
    assert feed.written == 1
    assert kind.read(home) == [{"text": "To be"}]


def test_a_record_made_before_is_written_as_it_is(kind, home):
    record = as_record({"n": 1, "tags": {"b", "a"}, "text": "To be"})
    with kind.open(home) as feed:
        feed.write(record)
        feed.write(record)

    assert feed.written == 2
    assert record == {"n": 1, "tags": ["a", "b"], "text": "To be"}
    assert kind.read(home) == expected(kind, [record, record])


def test_naughty_text_is_harmless_in_every_field(kind, home, naughty):
    records = [
        {"n": n, "before": "b", "text": text, "after": "a"} for n, text in enumerate(naughty)
    ]

    kind.write(home, records)

    assert kind.read(home) == expected(kind, records)


def test_naughty_names_of_fields_are_harmless(kind, home, naughty):
    names = [
        name for name in dict.fromkeys(naughty) if not any("\ud800" <= c < "\ue000" for c in name)
    ]
    records = [{"n": n, name: "value"} for n, name in enumerate(names)]

    kind.write(home, records)

    assert kind.read(home) == expected(kind, records)


def test_a_late_field_is_not_lost(kind, home):
    records = [{"a": 1}, {"b": 2}, {"c": None, "a": 3}, {"d": [1, {"e": "f"}], "b": 4}]

    kind.write(home, records)

    assert kind.read(home) == expected(kind, records)


def test_records_may_have_many_fields_and_no_two_the_same(kind, home):
    records = [{f"field {n}": n, f"other {n}": "x"} for n in range(260)]

    kind.write(home, records)

    assert kind.read(home) == expected(kind, records)


def test_names_that_differ_in_case_are_two_fields(kind, home):
    records = [{"name": 1, "Name": 2, "NAME": 3}, {"Name": 4}, {"É": 5, "é": 6}]

    kind.write(home, records)
    kind.write(home, records, append=True)

    assert kind.read(home) == expected(kind, records * 2)


def test_numbers_of_any_size_are_kept(kind, home):
    records = [
        {"int": 2**63 - 1, "big": "1", "float": 1e300, "tiny": 5e-324},
        {"int": -(2**63), "big": "2", "float": -0.5, "tiny": 0.1},
    ]

    kind.write(home, records)

    assert kind.read(home) == expected(kind, records)


def test_a_field_may_change_its_kind(kind, home):
    records = [{"x": 1}, {"x": "one"}, {"x": None}, {"x": [1]}, {"x": 2**70}]

    kind.write(home, records)

    assert [str(row.get("x", "")) for row in kind.read(home)] == [
        "1",
        "one",
        "None" if "jsonl" in kind.name else "",
        "[1]",
        str(2**70),
    ]


plain_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
scalars = st.none() | st.integers(-(2**63), 2**63 - 1) | plain_text | st.booleans()
# One kind of value for each field, as in a column of Parquet.
records = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "text": plain_text,
            "number": st.integers(-(2**63), 2**63 - 1),
            "float": st.floats(allow_nan=False, allow_infinity=False),
            "flag": st.booleans(),
            "nested": st.lists(scalars, max_size=3) | st.dictionaries(plain_text, scalars),
            'odd "name"\r\n, \'': plain_text,
        },
    ).filter(bool),
    max_size=6,
)


@settings(max_examples=30)
@given(records=records, data=st.data())
def test_records_in_are_records_out_however_often_it_is_reopened(kind, records, data):
    with tempfile.TemporaryDirectory() as directory:
        home, rest = Path(directory), records
        kind.write(home, [])
        while rest:
            some = data.draw(st.integers(1, len(rest)))
            kind.write(home, rest[:some], append=True)
            rest = rest[some:]

        assert kind.read(home) == expected(kind, records)


@settings(max_examples=30)
@given(kept=records, lost=records, more=records)
def test_a_rewound_feed_is_as_if_nothing_had_followed(kind, kept, lost, more):
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        with kind.open(home) as feed:
            for record in kept:
                feed(record)
            position = feed.position()
            for record in lost:
                feed(record)
            feed.rewind(position)
            for record in more:
                feed(record)

        assert kind.read(home) == expected(kind, kept + more)


def test_thousands_of_records_are_quickly_written(kind, home):
    pages = [
        {
            "url": f"http://site.test/{n}",
            "status": 200,
            "title": "A page – one of many",
            "links": [],
        }
        for n in range(4_000)
    ]

    took = cpu_of(kind.write, home, pages)

    assert took < 3
    assert len(kind.read(home)) == 4_000


# -- opening, closing -------------------------------------------------------------------------


def test_a_new_feed_replaces_what_was_there(kind, home):
    kind.write(home, RECORDS)
    kind.write(home, [{"other": 1}])

    assert kind.read(home) == expected(kind, [{"other": 1}])


def test_a_new_feed_makes_the_directories_it_needs(kind, home):
    kind.write(home / "a" / "b", RECORDS)

    assert kind.read(home / "a" / "b") == expected(kind, RECORDS)


def test_appending_goes_on_after_what_was_there(kind, home):
    kind.write(home, RECORDS[:4], append=True)
    kind.write(home, [{"late": 1}], append=True)
    kind.write(home, RECORDS[4:], append=True)

    assert kind.read(home) == expected(kind, [*RECORDS[:4], {"late": 1}, *RECORDS[4:]])


def test_a_feed_without_records_leaves_a_file_without_records(kind, home):
    feed = kind.write(home, [])

    assert feed.path.exists()
    assert kind.read(home) == []
    assert feed.written == 0


def test_closing_twice_is_closing_once(kind, home):
    feed = kind.write(home, RECORDS)

    feed.close()

    assert feed.closed
    assert kind.read(home) == expected(kind, RECORDS)


def test_a_closed_feed_says_so(kind, home):
    feed = kind.write(home, RECORDS)

    with pytest.raises(StateError, match=f"{kind.name} is closed"):
        feed({"n": 1})
    with pytest.raises(StateError, match=f"{kind.name} is closed"):
        feed.write({"n": 1})
    assert repr(feed) == f"<{type(feed).__name__} {feed.path}, closed, 10 written>"


def test_only_the_output_is_left_after_closing(kind, home):
    kind.write(home, [*RECORDS, {"late": 1}])

    assert [path.name for path in home.iterdir()] == [kind.name]


def test_no_descriptor_is_left_open(kind, home):
    kind.write(home, RECORDS)
    gevent.sleep(0.01)  # when patched, os.close() waits for the hub
    before = len(list(Path("/proc/self/fd").iterdir()))

    for _ in range(5):
        kind.write(home, [*RECORDS, {"late": 1}], append=True)
    gevent.sleep(0.01)

    assert len(list(Path("/proc/self/fd").iterdir())) <= before


def test_no_descriptor_is_left_open_by_a_feed_that_could_not_be_opened(kind, home):
    kind.write(home, RECORDS)
    gevent.sleep(0.01)
    before = len(list(Path("/proc/self/fd").iterdir()))

    for _ in range(5):
        with pytest.raises(FeedError):
            kind.open(home, position=10**9)
    gevent.sleep(0.01)

    assert len(list(Path("/proc/self/fd").iterdir())) <= before


def test_what_is_no_record_is_refused_and_leaves_no_trace(kind, home):
    with kind.open(home) as feed:
        feed({"n": 1})
        for value in (object(), 7, "text", [1, 2]):
            with pytest.raises(TypeError, match="a record is a mapping"):
                feed(value)
        with pytest.raises(TypeError, match="field 'thing': <object"):
            feed({"n": 2, "thing": object()})
        feed({"n": 3})

    assert feed.written == 2
    assert kind.read(home) == expected(kind, [{"n": 1}, {"n": 3}])


def test_a_record_nested_too_deeply_is_refused_and_leaves_no_trace(kind, home):
    deep: list = []
    for _ in range(100_000):
        deep = [deep]

    with kind.open(home) as feed:
        feed({"n": 1})
        with pytest.raises(RecursionError):
            feed({"n": 2, "deep": deep})
        feed({"n": 3})

    assert kind.read(home) == expected(kind, [{"n": 1}, {"n": 3}])


# -- crashes ----------------------------------------------------------------------------------


def test_what_is_flushed_survives_a_kill(kind, home, killed):
    feed = kind.open(home)
    for record in RECORDS:
        feed(record)
    feed.flush()

    left = killed(home)
    kind.write(left, [], append=True)

    assert kind.read(left) == expected(kind, RECORDS)
    feed.close()


def test_what_came_after_the_position_is_cut_off(kind, home, killed):
    feed = kind.open(home)
    for record in RECORDS[:4]:
        feed(record)
    position = json.loads(json.dumps(feed.position()))
    for record in [*RECORDS[4:], {"late": "column"}]:
        feed(record)
    feed.flush()

    left = killed(home)
    kind.write(left, RECORDS[4:], position=position)

    assert kind.read(left) == expected(kind, RECORDS)
    feed.close()


def test_every_position_can_be_returned_to(kind, home, killed):
    feed = kind.open(home)
    positions = [feed.position()]
    for record in RECORDS:
        feed(record | {f"new {record['n']}": True})
        positions.append(feed.position())
    feed.close()

    for number, position in enumerate(positions):
        left = killed(home)
        kind.write(left, [{"n": "end"}], position=position)

        assert [str(row["n"]) for row in kind.read(left)] == [*map(str, range(number)), "end"]


def test_a_feed_may_be_killed_again_and_again(kind, home, killed):
    written, position, place = [], None, home
    for n in range(8):
        feed = kind.open(place, position=position)
        for part in "ab":
            feed({"n": n, "part": part, f"new in {n}": 1})
            written.append({"n": n, "part": part, f"new in {n}": 1})
        position = feed.position()
        feed({"n": -1, "torn": "x" * 100})
        place, old = killed(place), feed
        old.close()

    kind.write(place, [], position=position)

    assert kind.read(place) == expected(kind, written)


def test_an_output_shorter_than_its_position_is_an_error(kind, home):
    kind.write(home, RECORDS)
    position = kind.open(home, append=True).position()

    with pytest.raises(FeedError, match=f"{kind.name} ends after .* but .* were recorded"):
        kind.open(home, position=position + 1)


def test_an_output_that_is_gone_is_an_error(kind, home):
    with pytest.raises(FeedError, match=r"ends after 0 .*put it back or start afresh"):
        kind.open(home, position=5)


SCRIPT = """
import sys
from crawler.feed import open_feed
start, position = int(sys.argv[2]), int(sys.argv[3])
feed = open_feed(sys.argv[1], position=position)
for n in range(start, 1_000_000):
    feed({"n": n, "text": "x" * (n % 50), f"column {n // 40 % 30}": n})
    if n % 7 == 6:
        print(n + 1, feed.position(), flush=True)
"""


def test_kill_9_costs_no_record_and_doubles_none(kind, home):
    kind.write(home, [])
    done = position = 0
    for commits in (1, 40):
        args = [sys.executable, "-c", SCRIPT, str(home / kind.name), str(done), str(position)]
        with subprocess.Popen(args, stdout=subprocess.PIPE, text=True) as process:
            for _ in range(commits):
                done, position = map(int, process.stdout.readline().split())
            process.send_signal(signal.SIGKILL)
            for line in process.stdout.read().splitlines(keepends=True):
                if line.endswith("\n"):
                    done, position = map(int, line.split())

    kind.write(home, [{"n": "end"}], position=position)

    assert [str(row["n"]) for row in kind.read(home)] == [*map(str, range(done)), "end"]


# -- failing disks ----------------------------------------------------------------------------


@contextmanager
def files_of_at_most(size):
    """Make the disk look full to this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_costs_only_what_was_reported(kind, home):
    feed = kind.open(home)
    feed.batch, feed.group = 3, 30
    taken, failures = [], set()
    with files_of_at_most(300_000):
        for n in count():
            text = "\x00é" * 2000 + Random(n).randbytes(8000).hex()  # gzip cannot make it small
            record = {"n": n, "text": text, f"column {n // 7}": n}
            try:
                feed(record)
            except (OSError, sqlite3.Error) as error:
                failures.add(getattr(error, "errno", "SQLite's"))
                if n > 60:
                    break
            else:
                taken.append(record)
            assert n < 500

    feed({"n": -1})
    feed.close()

    assert len(taken) > 5
    assert failures <= {errno.EFBIG, "SQLite's"}
    assert kind.read(home) == expected(kind, [*taken, {"n": -1}])


def test_every_feed_is_a_feed(kind, home):
    with kind.open(home) as feed:
        assert isinstance(feed, Feed)
