import json
import sqlite3

import pytest

from crawler.portal.runs import log_index as module
from crawler.portal.runs.log_index import LogIndex
from crawler.portal.runs.log_search import LogQuery


def line(message, second=0, level="INFO", **more):
    at = f"2026-11-18T04:00:{second:02}.500+00:00"
    return json.dumps({"ts": at, "level": level, "logger": "x", "message": message} | more) + "\n"


@pytest.fixture
def log(tmp_path):
    return tmp_path / "log.txt"


@pytest.fixture
def index(tmp_path):
    return LogIndex(tmp_path, hidden="the-token-of-the-run")


def texts(index):
    return [one.message for one in LogQuery().lines(index)]


def test_lines_are_added_once_however_often_it_looks(log, index, tmp_path):
    log.write_text(line("a") + line("b"))
    assert index.update() == log.stat().st_size
    assert index.update() == 0
    with log.open("a") as more:
        more.write(line("c"))
    assert LogIndex(tmp_path).update()  # another portal
    assert index.update() == 0

    assert texts(index) == ["a", "b", "c"]


def test_a_line_that_is_being_written_waits_for_its_end(log, index):
    log.write_text(line("a") + "half a li")
    index.update()
    assert (texts(index), index.unread()) == (["a"], len("half a li"))

    index.update(is_over=True)

    assert (texts(index), index.unread()) == (["a", "half a li"], 0)


def test_what_is_printed_is_a_line_too(log, index):
    log.write_text('live page: http://127.0.0.1:1/the-token-of-the-run/\n{"no": "log line"}\n')
    index.update()

    [first, second] = LogQuery().lines(index)

    assert first.message == "live page: http://127.0.0.1:1/…/"
    assert second.message == '{"no": "log line"}'
    assert {first.logger, second.logger} == {"output"}


@pytest.mark.parametrize(
    "wrong",
    [
        '{"ts": "yesterday", "level": "INFO", "message": "x"}',
        '{"ts": 5, "level": "INFO", "message": "x"}',
        '{"ts": "2026-11-18T04:00:00+00:00", "level": "LOUD", "message": "x"}',
        '{"ts": "0001-01-01T00:00:00+23:59", "level": "INFO", "message": "x"}',
        "[" * 100_000,
        '{"a":' * 20_000,
        "\x00\x1b[2J",
    ],
)
def test_no_line_stops_the_others(log, index, wrong):
    log.write_text(f"{wrong}\n" + line("after"))

    index.update()

    assert texts(index)[-1] == "after"


def test_times_never_decrease_and_are_not_of_the_future(log, index):
    future = line("b", 5).replace("2026", "9999")
    log.write_text(line("a", 9) + future + line("c", 1))
    index.update()

    times = [one.at for one in LogQuery().lines(index)]

    assert times == sorted(times)
    assert times[-1] <= module.time()


def test_dropped_lines_are_counted(log, index):
    log.write_text(line("a", dropped=1) + line("b", dropped=4) + line("c", dropped="many"))
    index.update()

    assert index.dropped() == 4


def test_a_line_longer_than_a_piece_is_cut(log, index, monkeypatch):
    monkeypatch.setattr(module, "_PIECE", 1000)
    monkeypatch.setattr(module, "_LONGEST", 200)
    log.write_text("x" * 2500 + "\n" + line("after"))

    while index.update(is_over=True):
        pass

    assert texts(index)[-1] == "after"
    assert max(map(len, texts(index))) <= 200


def test_a_kill_adds_nothing_or_all(log, index, monkeypatch):
    log.write_text(line("a") + line("b"))
    insert = module._insert

    def killed(*arguments):
        insert(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_insert", killed)
    with pytest.raises(KeyboardInterrupt):
        index.update()
    monkeypatch.undo()
    index.update()

    assert texts(index) == ["a", "b"]


def test_the_index_is_for_its_owner_only(log, index, tmp_path):
    log.write_text(line("a"))
    index.update()

    assert (tmp_path / "log.db").stat().st_mode & 0o77 == 0


def test_a_run_without_a_log_has_no_lines(index, tmp_path):
    assert (index.update(), index.unread(), texts(index)) == (0, 0, [])
    with index.open() as database, pytest.raises(sqlite3.OperationalError):
        database.execute("SELECT * FROM nothing")
