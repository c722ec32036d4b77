"""The log covers a store only if it has the keys of all its rows, and of nothing else."""

import errno
import os
from contextlib import closing

import pytest

from crawler.frontier.durable.key_log import KeyLog

ONE, TWO, THREE = (bytes([number]) * 16 for number in (1, 2, 3))


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "state.keys"
    with closing(KeyLog(path)) as log:
        log.append(1, [ONE])
        log.append(2, [])
        log.append(3, [TWO, THREE])
    return path


def opened(path):
    return closing(KeyLog(path))


def keys(log):
    return [key for some in log.chunks() for key in some]


def test_keys_are_there_in_the_next_process(path):
    with opened(path) as log:
        assert log.covers(3, rows=3)
        assert keys(log) == [ONE, TWO, THREE]


def test_more_keys_than_are_read_at_a_time_are_there(path):
    many = [number.to_bytes(16, "big") for number in range(25_000)]

    with opened(path) as log:
        log.append(4, many)

        assert log.covers(4, rows=3 + len(many))
        assert keys(log) == [ONE, TWO, THREE, *many]


def test_keys_whose_commit_was_not_made_are_cut_off_for_ever(path):
    with opened(path) as log:
        assert log.covers(2, rows=1)
        log.append(3, [THREE])

        assert log.covers(3, rows=2)
        assert keys(log) == [ONE, THREE]


@pytest.mark.parametrize("rows", [0, 2, 4])
def test_another_number_of_rows_is_not_covered(path, rows):
    with opened(path) as log:
        assert not log.covers(3, rows)


def test_a_log_that_ends_anywhere_covers_no_more_than_its_whole_records(path):
    content = path.read_bytes()
    for size in range(len(content)):
        path.write_bytes(content[:size])

        with opened(path) as log:
            assert not log.covers(3, rows=3)
            assert keys(log) in ([], [ONE])


def test_a_log_with_any_byte_changed_does_not_cover_the_rows(path):
    content = path.read_bytes()
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])

        with opened(path) as log:
            assert not log.covers(3, rows=3)


def test_a_cleared_log_is_written_anew(path):
    with opened(path) as log:
        log.clear()
        log.append(0, [TWO])

        assert log.covers(3, rows=1)
        assert keys(log) == [TWO]


def test_after_a_record_without_room_nothing_is_added(path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "no room")

    with opened(path) as log:
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            log.append(4, [ONE])
        log.append(5, [ONE])

        assert not log.covers(5, rows=5)
        assert keys(log) == [ONE, TWO, THREE]
