import os

import pytest

from crawler.testing import Reply

from .cached_site import ASKED, HIT, numbered


def files(directory):
    return [path for path in directory.rglob("*") if path.is_file()]


def test_it_is_still_there_for_the_next_crawl(cached):
    page = numbered(cache_control="max-age=60")
    cached(page)()

    assert cached(page)() == ("page 1", HIT)


def test_a_file_with_any_byte_changed_or_cut_off_is_ignored_and_counted(cached, tmp_path):
    ask = cached(Reply(200, {"cache-control": "max-age=60"}, "page"))
    ask()
    [path] = files(tmp_path)
    whole = path.read_bytes()

    damages = [whole[:end] for end in range(len(whole))]
    damages += [whole[:n] + bytes([whole[n] ^ 1]) + whole[n + 1 :] for n in range(len(whole))]
    for damaged in damages:
        path.write_bytes(damaged)
        assert ask.flags() == ASKED

    assert ask.flags() == HIT
    assert ask.cache.counts["damaged"] == len(damages)


@pytest.mark.parametrize("about", [b"{}", b"[]", b"7", b'{"status": 200, "headers": 7}', b"\xff"])
def test_a_forged_file_is_ignored(cached, tmp_path, about):
    from crawler.middleware.download.cache_files import digest

    ask = cached(Reply(200, {"cache-control": "max-age=60"}, "page"))
    ask()
    [path] = files(tmp_path)
    content = about + b"\nbody"
    path.write_bytes(b"crawler-cache-1 " + digest(content).encode() + b"\n" + content)

    assert ask.flags() == ASKED
    assert ask.cache.counts["damaged"] == 1


def test_a_disk_that_cannot_be_written_costs_no_page(cached, tmp_path, caplog):
    ask = cached(Reply(200, {"cache-control": "max-age=60"}, "page"))
    tmp_path.rmdir()
    tmp_path.write_text("in the way")

    assert ask() == ("page", ASKED)
    assert ask() == ("page", ASKED)
    assert ask.cache.counts["failed"] == 2
    assert "could not write" in caplog.text


def test_a_failed_write_leaves_nothing_behind(cached, tmp_path, monkeypatch):
    ask = cached(Reply(200, {"cache-control": "max-age=60"}, "page"))

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr("pathlib.Path.replace", full)
    ask()

    assert not files(tmp_path)
