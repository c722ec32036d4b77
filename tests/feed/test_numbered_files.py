import tempfile
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.feed import open_feed

RECORDS = [{"n": n, "text": "x" * n} for n in range(10)]


def spec_in(home, kind, options="records=3"):
    stem, suffix = kind.name.split(".", 1)
    return f"{home}/{stem}-%02d.{suffix}:{options}"


def files(home, kind):
    """The records of each file of the series, by its number."""
    stem, suffix = kind.name.split(".", 1)
    found = {}
    for path in sorted(Path(home).iterdir()):
        number = int(path.name.removeprefix(f"{stem}-").partition(".")[0])
        reader = type(kind)()
        reader.name = f"{stem}-{number:02d}.{suffix}"
        assert path.name == reader.name, "something else is left"
        found[number] = reader.read(Path(home))
    return found


def expected(kind, *groups):
    return {
        number: [kind.expected(record) for record in group]
        for number, group in enumerate(groups, 1)
    }


def write(spec, records, **options):
    with open_feed(spec, **options) as feed:
        for record in records:
            feed(record)
    return feed


def test_a_file_has_so_many_records_and_the_next_one_begins(kind, home):
    feed = write(spec_in(home, kind), RECORDS)

    groups = RECORDS[:3], RECORDS[3:6], RECORDS[6:9], RECORDS[9:]
    assert files(home, kind) == expected(kind, *groups)
    assert feed.written == 10


def test_a_file_is_finished_before_the_crawl_is(kind, home):
    with open_feed(spec_in(home, kind)) as feed:
        for record in RECORDS[:4]:
            feed(record)

        reader = type(kind)()
        reader.name = kind.name.replace(".", "-01.", 1)
        assert reader.read(Path(home)) == [kind.expected(record) for record in RECORDS[:3]]


def test_a_file_has_no_more_bytes_of_records_than_allowed(kind, home):
    sizes = [10, 10, 200, 10, 60, 60]
    records = [{"text": "x" * size} for size in sizes]

    write(spec_in(home, kind, "bytes=100"), records)

    assert files(home, kind) == expected(kind, records[:2], records[2:3], records[3:5], records[5:])


def test_a_new_series_removes_the_one_before_and_appending_begins_a_new_file(kind, home):
    spec = spec_in(home, kind)
    write(spec, RECORDS)
    write(spec, RECORDS[:4])
    write(spec, RECORDS[:1], append=True)

    assert files(home, kind) == expected(kind, RECORDS[:3], RECORDS[3:4], RECORDS[:1])


def test_a_series_without_records_has_no_files(kind, home):
    write(spec_in(home, kind), [])

    assert files(home, kind) == {}


steps = st.lists(
    st.sampled_from(["write", "write", "write", "commit", "kill", "stop"]), max_size=16
)


@settings(max_examples=40, deadline=None)
@given(steps=steps, options=st.sampled_from(["records=1", "records=3", "bytes=30"]))
def test_each_committed_record_is_there_once_whatever_ends_the_process(kind, steps, options):
    with tempfile.TemporaryDirectory() as home:
        spec = spec_in(home, kind, options)
        feed = open_feed(spec)
        position, committed, lately = feed.position(), [], []
        for number, step in enumerate(steps):
            if step == "write":
                feed({"n": number})
                lately.append({"n": number})
                continue
            if step != "kill":
                position, committed, lately = feed.position(), committed + lately, []
            if step != "commit":
                if step == "kill":
                    feed.flush()  # what the process has written is there, and too much
                feed.close()
                feed, lately = open_feed(spec, position=position), []
        position = feed.position()
        feed.close()
        committed += lately

        found = files(home, kind)
        assert [*chain.from_iterable(found.values())] == [
            kind.expected(record) for record in committed
        ]
        assert list(found) == list(range(1, len(found) + 1))
        assert all(found.values())


def test_a_series_that_has_lost_a_file_says_so(home):
    spec = f"{home}/a-%d.jsonl:records=3"
    position = write(spec, RECORDS[:2]).position()
    (home / "a-1.jsonl").write_text("")

    with pytest.raises(Exception, match=r"a-1.jsonl ends after 0 bytes, but \d+ were recorded"):
        open_feed(spec, position=position)
