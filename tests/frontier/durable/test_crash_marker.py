import struct

import pytest

from crawler.frontier.durable.crash_marker import CrashMarker


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.marker"


def reopened(path):
    """What the next process finds: the one before has closed nothing."""
    marker = CrashMarker(path)
    try:
        return marker.commits, sorted(marker.rows)
    finally:
        marker.close()


def test_what_is_marked_is_there_for_the_next_process(path):
    marker = CrashMarker(path)
    marker.commits = 7
    for row in (1, 2, 2**62):
        marker.mark(row)
    marker.clear(2)
    marker.clear(99)

    assert reopened(path) == (7, [1, 2**62])


def test_there_is_room_for_any_number_of_rows(path):
    marker = CrashMarker(path)

    for row in range(1, 1001):
        marker.mark(row)
    for row in range(1, 1001, 2):
        marker.clear(row)

    assert reopened(path) == (0, list(range(2, 1001, 2)))


def test_one_row_can_be_blamed_alone(path):
    marker = CrashMarker(path)
    for row in range(1, 101):
        marker.mark(row)

    marker.blame(50)

    assert reopened(path) == (0, [50])


def test_a_damaged_entry_is_left_out_and_a_damaged_number_of_commits_is_unknown(path):
    marker = CrashMarker(path)
    marker.mark(5)
    marker.mark(6)
    content = bytearray(path.read_bytes())
    content[0] ^= 1
    content[content.index(struct.pack("<Q", 5))] ^= 8
    path.write_bytes(content)

    assert reopened(path) == (None, [6])


def test_after_all_marks_are_removed_there_is_room_again(path):
    marker = CrashMarker(path)
    for row in range(1, 65):
        marker.mark(row)

    marker.clear_all()
    marker.mark(9)

    assert reopened(path) == (0, [9])


def test_a_marker_of_format_1_is_read(path):
    """Two numbers, each beside its complement: commits, and the one row that was marked."""
    path.write_bytes(b"".join(struct.pack("<QQ", n, n ^ (2**64 - 1)) for n in (3, 12)))

    assert reopened(path) == (3, [12])
