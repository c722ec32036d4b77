from crawler.media.file_index import FileIndex

DONE = {"url": "http://a.test/", "path": "files/x", "size": 1}
GONE = {"url": "http://a.test/b", "path": None, "reason": "http_404"}


def test_what_was_added_is_there_at_once_and_for_the_next_process(tmp_path):
    path = tmp_path / "files.db"
    first = FileIndex(path, "files")
    first.add("http://a.test/", DONE, failed=False)
    first.add("http://a.test/b", GONE, failed=True)
    assert first.get("http://a.test/b") == GONE

    # Not closed: its process may have been killed.
    second = FileIndex(path, "files")
    assert second.get("http://a.test/") == DONE
    assert second.get("http://a.test/b") is None
    for index in (first, second):
        index.close()


def test_without_a_path_nothing_outlives_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    index = FileIndex(None, "files")
    index.add("http://a.test/", DONE, failed=False)

    assert index.get("http://a.test/") == DONE
    assert list(tmp_path.iterdir()) == []
    index.close()


def test_a_file_in_another_directory_is_another_file(tmp_path):
    index = FileIndex(tmp_path / "files.db", "files")
    index.add("http://a.test/", DONE, failed=False)
    index.close()

    other = FileIndex(tmp_path / "files.db", "elsewhere")
    assert other.get("http://a.test/") is None
    other.close()


def test_a_url_that_is_not_unicode_can_be_kept():
    index = FileIndex(None, "files")
    index.add("http://a.test/\ud800", DONE, failed=False)

    assert index.get("http://a.test/\ud800") == DONE
    index.close()


def test_a_damaged_index_begins_again(tmp_path, caplog):
    path = tmp_path / "files.db"
    path.write_bytes(b"this is not a database " * 100)

    index = FileIndex(path, "files")

    assert index.get("http://a.test/") is None
    assert "is damaged" in caplog.text
    index.close()
