import errno
import json

import pytest

from crawler.feed import FeedError, JsonLines

RECORDS = [{"n": n, "text": "é" * n} for n in range(5)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "items.jsonl"


def write(path, *records, **options):
    with JsonLines(path, **options) as feed:
        for record in records:
            feed(record)
    return feed


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_record_is_in_the_file_when_the_call_returns(path):
    with JsonLines(path) as feed:
        for number, record in enumerate(RECORDS, 1):
            feed(record)
            assert read(path) == RECORDS[:number]


def test_people_can_read_it(path):
    write(path, {"title": "Smørrebrød 🥪"})

    assert path.read_text(encoding="utf-8") == '{"title": "Smørrebrød 🥪"}\n'


def test_torn_at_any_byte_it_goes_on_after_the_last_position(path):
    write(path, *RECORDS[:3])
    position = path.stat().st_size
    write(path, *RECORDS[3:], append=True)
    content = path.read_bytes()

    for end in range(position, len(content) + 1):
        path.write_bytes(content[:end])
        write(path, *RECORDS[3:], position=position)
        assert path.read_bytes() == content


def test_torn_at_any_byte_it_is_appended_to_without_a_position(path):
    write(path, *RECORDS[:2])
    content = path.read_bytes()

    for end in range(len(content)):
        path.write_bytes(content[:end])
        write(path, {"n": "end"}, append=True)
        *before, last = read(path)
        assert before == RECORDS[: len(before)]
        assert last == {"n": "end"}


def test_a_last_line_without_an_end_that_is_whole_is_kept(path):
    path.write_bytes(b'{"by": "hand"}')

    write(path, {"n": 1}, append=True)

    assert read(path) == [{"by": "hand"}, {"n": 1}]


def test_a_position_inside_a_line_is_an_error(path):
    write(path, *RECORDS)
    before = path.read_bytes()

    with pytest.raises(FeedError, match=r"no record of .* ends at byte 5: the file was changed"):
        JsonLines(path, position=5)
    assert path.read_bytes() == before


def test_a_device_can_be_written_to():
    feed = write("/dev/null", *RECORDS)

    assert feed.written == 5


def test_a_full_device_is_reported_at_each_call():
    feed = JsonLines("/dev/full")

    for _ in range(2):
        with pytest.raises(OSError, match="No space left") as raised:
            feed({"n": 1})
        assert raised.value.errno == errno.ENOSPC
    assert feed.written == 0
    feed.close()


def test_a_directory_in_the_way_is_an_error(tmp_path):
    with pytest.raises(IsADirectoryError):
        JsonLines(tmp_path)
