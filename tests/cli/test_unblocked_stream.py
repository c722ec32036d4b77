import os
import re
import socket

import gevent
import pytest

from crawler.cli.unblocked_stream import UnblockedStream, is_blocked, write_unblocked

LINE = b"x" * 999 + b"\n"


@pytest.fixture
def pipe():
    reader, writer = os.pipe()
    yield reader, writer
    os.close(writer)
    os.close(reader)


def read_some(reader):
    return os.read(reader, 1 << 20)


def read_while_blocked(reader, stream):
    found = b""
    with gevent.Timeout(120):
        while stream.is_blocked:
            found += read_some(reader)
    return found + read_some(reader)


def test_what_a_full_pipe_does_not_take_comes_later_and_in_order(pipe):
    reader, writer = pipe
    stream = UnblockedStream(writer)
    lines = [b"%d %s" % (n, LINE) for n in range(100)]  # 64 kB fit into the pipe

    for line in lines:
        assert stream.write(line) == len(line)

    assert stream.is_blocked
    assert read_while_blocked(reader, stream) == b"".join(lines)
    assert not stream.is_blocked


def test_lines_beyond_that_are_dropped_and_counted(pipe):
    reader, writer = pipe
    stream = UnblockedStream(writer)

    for _ in range(300):
        stream.write(LINE)

    text = read_while_blocked(reader, stream)
    number = int(re.search(rb"crawler: (\d+) lines were dropped here", text)[1])
    assert text.count(LINE) + number == 300
    stream.write(b"again\n")
    assert read_some(reader) == b"again\n"


def test_the_descriptor_stays_blocking_for_others(pipe):
    _, writer = pipe
    stream = UnblockedStream(writer)
    for _ in range(200):
        stream.write(LINE)

    assert os.get_blocking(writer)


def test_what_cannot_be_opened_again_is_not_waited_for_either():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        os.set_blocking(ours.fileno(), True)
        stream = UnblockedStream(ours.fileno())

        for _ in range(1000):
            stream.write(LINE)

        assert stream.is_blocked
        assert os.get_blocking(ours.fileno())
        with pytest.raises(BlockingIOError):
            write_unblocked(ours.fileno(), LINE)


def test_a_file_is_written_where_its_other_writers_are(tmp_path):
    with (tmp_path / "log").open("wb", buffering=0) as file:
        stream = UnblockedStream(file.fileno())
        file.write(b"one\n")
        stream.write(b"two\n")
        file.write(b"three\n")

    assert (tmp_path / "log").read_bytes() == b"one\ntwo\nthree\n"


def test_a_closed_pipe_is_an_error():
    reader, writer = os.pipe()
    stream = UnblockedStream(writer)
    os.close(reader)
    gevent.sleep(0.01)  # gevent closes descriptors a little later

    with pytest.raises(BrokenPipeError):
        stream.write(LINE)

    assert not stream.is_blocked
    os.close(writer)


def test_what_is_written_while_something_is_sent_is_sent_after_it(pipe):
    """A destructor that prints may run in the middle of a write."""
    reader, writer = pipe

    class Interrupted(UnblockedStream):
        def _write(self, piece):
            if piece == b"first\n":
                self.write(b"second\n")
            return super()._write(piece)

    Interrupted(writer).write(b"first\n")

    assert read_some(reader) == b"first\nsecond\n"


def test_other_streams_are_never_blocked(capsys):
    import sys

    assert not is_blocked(sys.stdout)
