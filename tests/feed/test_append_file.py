import errno
import json
import os

import pytest

from crawler.feed import JsonLines


@pytest.fixture
def path(tmp_path):
    return tmp_path / "items.jsonl"


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_write_that_stops_in_the_middle_leaves_no_trace(path, monkeypatch):
    feed = JsonLines(path)
    feed({"n": 1})
    whole_write = os.write

    def half_a_write(fd, piece):
        monkeypatch.setattr(os, "write", fail)
        return whole_write(fd, piece[: len(piece) // 2])

    def fail(_fd, _piece):
        raise OSError(errno.EIO, "broken disk")

    monkeypatch.setattr(os, "write", half_a_write)
    with pytest.raises(OSError, match="broken disk"):
        feed({"n": 2})
    monkeypatch.undo()

    assert read(path) == [{"n": 1}]
    feed({"n": 3})
    feed.close()
    assert read(path) == [{"n": 1}, {"n": 3}]


def test_what_could_not_be_cut_off_at_once_is_cut_off_before_the_next_record(path, monkeypatch):
    feed = JsonLines(path)
    feed({"n": 1})
    whole_write, cut = os.write, os.ftruncate
    writes = iter([lambda fd, piece: whole_write(fd, piece[:3]), None])

    def fail(*_):
        raise OSError(errno.EIO, "broken disk")

    monkeypatch.setattr(os, "write", lambda fd, piece: (next(writes) or fail)(fd, piece))
    monkeypatch.setattr(os, "ftruncate", fail)
    with pytest.raises(OSError, match="broken disk"):
        feed({"n": 2})
    monkeypatch.undo()

    assert os.ftruncate is cut
    feed({"n": 3})
    feed.close()
    assert read(path) == [{"n": 1}, {"n": 3}]
