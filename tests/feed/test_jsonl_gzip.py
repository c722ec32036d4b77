import gzip
import json
import subprocess

import pytest

from crawler.feed import FeedError, JsonLinesGzip

RECORDS = [{"n": n, "text": "é" * n} for n in range(5)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "items.jsonl.gz"


def write(path, *records, **options):
    with JsonLinesGzip(path, **options) as feed:
        for record in records:
            feed(record)
    return feed


def read(path):
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


@pytest.mark.parametrize("records", [[], RECORDS])
def test_other_programs_read_it(path, records):
    write(path, *records[:2])
    write(path, *records[2:], append=True)

    done = subprocess.run(["gzip", "-dc", path], capture_output=True, timeout=120)

    assert (done.returncode, done.stderr) == (0, b"")
    assert [json.loads(line) for line in done.stdout.splitlines()] == records


def test_a_member_is_written_for_each_position_and_none_without_new_records(path):
    with JsonLinesGzip(path) as feed:
        feed(RECORDS[0])
        assert path.stat().st_size == 0
        first = feed.position()
        assert (feed.position(), path.stat().st_size) == (first, first)
        for record in RECORDS[1:]:
            feed(record)
        second = feed.position()

    assert path.stat().st_size == second
    assert gzip.decompress(path.read_bytes()[first:]).count(b"\n") == 4


def test_what_waits_has_a_bound_and_is_compressed(path):
    with JsonLinesGzip(path) as feed:
        for n in range(3000):
            feed({"n": n, "text": "word " * 200})
        assert path.stat().st_size

    assert len(read(path)) == 3000
    assert path.stat().st_size < 300_000


def test_torn_at_any_byte_it_goes_on_after_the_last_position(path):
    write(path, *RECORDS[:3])
    position = path.stat().st_size
    write(path, *RECORDS[3:], append=True)
    content = path.read_bytes()

    for end in range(position, len(content) + 1):
        path.write_bytes(content[:end])
        write(path, *RECORDS[3:], position=position)
        assert path.read_bytes() == content


def test_torn_at_any_byte_it_is_appended_to_after_the_last_whole_member(path):
    write(path, *RECORDS[:3])
    first = path.stat().st_size
    write(path, *RECORDS[3:], append=True)
    content = path.read_bytes()

    for end in range(len(content)):
        path.write_bytes(content[:end])
        write(path, {"n": "end"}, append=True)
        assert read(path) == [*RECORDS[: 3 if end >= first else 0], {"n": "end"}]


def test_a_last_line_without_an_end_is_ended(path):
    path.write_bytes(gzip.compress(b'{"by": "hand"}') + gzip.compress(b""))

    write(path, {"n": 1}, append=True)

    assert read(path) == [{"by": "hand"}, {"n": 1}]


def test_a_member_larger_than_a_piece_is_read_to_its_end(path):
    noise = {"text": "".join(chr(0x4E00 + n * n * 7919 % 20000) for n in range(200_000))}
    write(path, noise)

    write(path, {"n": 1}, append=True)

    assert read(path) == [noise, {"n": 1}]


def test_a_file_that_is_not_gzip_is_an_error_and_stays(path):
    path.write_text('{"n": 1}\n')

    with pytest.raises(FeedError, match=r"is not a gzip file from byte 0 on .*: repair or remove"):
        JsonLinesGzip(path, append=True)
    assert path.read_text() == '{"n": 1}\n'


def test_a_position_inside_a_member_is_an_error(path):
    write(path, *RECORDS)
    before = path.read_bytes()

    with pytest.raises(FeedError, match=r"no record of .* ends at byte 5: the file was changed"):
        JsonLinesGzip(path, position=5)
    assert path.read_bytes() == before
