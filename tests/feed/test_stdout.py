import json
import os
import subprocess
import sys
from contextlib import suppress

import gevent
import pytest
from gevent.os import make_nonblocking

from crawler.errors import StateError
from crawler.feed import OutputClosed, Stdout


@pytest.fixture
def pipe():
    reader, writer = os.pipe()
    yield reader, writer
    for fd in (reader, writer):
        with suppress(OSError):
            os.close(fd)


def test_a_line_is_out_when_the_call_returns(pipe):
    reader, writer = pipe
    with Stdout(writer) as feed:
        for n in range(3):
            feed({"n": n})
            assert json.loads(os.read(reader, 1000)) == {"n": n}

    assert feed.written == 3
    assert str(feed.path) == "-"
    os.write(writer, b"still open")


def test_a_slow_reader_holds_up_nobody_else(pipe):
    reader, writer = pipe
    feed = Stdout(writer)
    records = [{"n": n, "text": "é" * 3000} for n in range(100)]
    ticks = []

    def tick():
        while True:
            ticks.append(len(ticks))
            gevent.sleep(0)

    def write(number):
        for record in records[number::4]:
            feed(record)

    clock = gevent.spawn(tick)
    writers = [gevent.spawn(write, number) for number in range(4)]
    with gevent.Timeout(120):
        gevent.sleep(0.05)
        before = len(ticks)
        gevent.sleep(0.05)
        assert len(ticks) > before
        content = bytearray()
        make_nonblocking(reader)
        while content.count(b"\n") < len(records):
            content += gevent.os.nb_read(reader, 5000)
        gevent.joinall(writers, raise_error=True)
    clock.kill()

    found = [json.loads(line) for line in content.splitlines()]
    assert sorted(record["n"] for record in found) == list(range(100))
    assert {record["text"] for record in found} == {"é" * 3000}


def test_a_line_whose_writer_was_ended_in_the_middle_is_finished_by_the_next(pipe):
    reader, writer = pipe
    feed = Stdout(writer)
    first = gevent.spawn(feed, {"text": "x" * 200_000})
    with gevent.Timeout(120):
        gevent.sleep(0.05)
        first.kill()
        second = gevent.spawn(feed, {"n": 2})
        content = b""
        make_nonblocking(reader)
        while content.count(b"\n") < 2:
            content += gevent.os.nb_read(reader, 50_000)
        second.join()

    assert [json.loads(line) for line in content.splitlines()] == [
        {"text": "x" * 200_000},
        {"n": 2},
    ]


def test_after_its_reader_has_gone_nothing_counts_as_written(pipe, tmp_path):
    """A program that puts another file in the place of standard output must not lose records."""
    reader, writer = pipe
    feed = Stdout(writer)
    os.close(reader)
    gevent.sleep(0.01)
    with pytest.raises(OutputClosed):
        feed({"n": 1})
    with (tmp_path / "elsewhere").open("wb") as elsewhere:
        os.dup2(elsewhere.fileno(), writer)

    with pytest.raises(OutputClosed):
        feed({"n": 2})

    assert feed.written == 0
    assert (tmp_path / "elsewhere").read_bytes() == b""


def test_a_reader_that_has_gone_is_an_error_of_its_own_and_closing_is_quiet(pipe):
    reader, writer = pipe
    feed = Stdout(writer)
    feed({"n": 1})
    os.close(reader)
    gevent.sleep(0.01)

    for _ in range(2):
        with pytest.raises(OutputClosed, match="the reader of standard output has closed it"):
            feed({"n": 2})
    feed.flush()
    feed.close()
    feed.close()

    assert feed.written == 1
    with pytest.raises(StateError):
        feed({"n": 3})


def test_there_is_nothing_to_go_back_to(pipe):
    _, writer = pipe
    feed = Stdout(writer)
    feed({"n": 1})

    assert feed.position() == 0
    feed.rewind(0)


def test_redirected_to_a_file_it_writes_the_file(tmp_path):
    path = tmp_path / "out"
    script = (
        "from crawler.feed import open_feed\nwith open_feed('-') as f: f({'n': 1}); f({'n': 2})"
    )
    with path.open("wb") as file:
        subprocess.run([sys.executable, "-c", script], stdout=file, check=True, timeout=120)

    assert path.read_bytes() == b'{"n": 1}\n{"n": 2}\n'


def test_in_a_pipe_to_head_it_ends_with_its_own_exception():
    script = """
import itertools
from crawler.feed import OutputClosed, open_feed
try:
    with open_feed("-") as feed:
        for n in itertools.count():
            feed({"n": n})
except OutputClosed:
    raise SystemExit(7)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        first = process.stdout.readline()
        process.stdout.close()
        code = process.wait(120)

    assert json.loads(first) == {"n": 0}
    assert code == 7
