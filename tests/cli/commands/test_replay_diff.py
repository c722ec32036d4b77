"""The items of a replayed archive, compared with those of a file."""

import json

from ..conftest import crawler


def test_an_archive_is_replayed_without_the_site_and_differences_are_shown(titles, tmp_path):
    args = ("run", "titles.py:Titles", "-s", "delay=0", "--warc", "a.warc.gz", "-O", "items.jsonl")
    crawler(*args, cwd=tmp_path)
    asked = len(titles.requests)

    again = crawler(
        "replay", "a.warc.gz", "titles.py:Titles", "--diff", "items.jsonl", cwd=tmp_path
    )
    (tmp_path / "items.jsonl").write_text('{"title": "Old", "tag": null}\n')
    changed = crawler(
        "replay", "a.warc.gz", "titles.py:Titles", "--diff", "items.jsonl", cwd=tmp_path
    )

    args = ("replay", "a.warc.gz", "titles.py:Titles", "--diff", "items.jsonl", "--json")
    changes = json.loads(crawler(*args, cwd=tmp_path).stdout)

    assert changes["gone"] == [{"title": "Old", "tag": None}]
    assert {"title": "Home", "tag": None} in changes["new"]
    assert again.returncode == 0, again.stderr
    assert again.stdout == "no difference\n"
    assert changed.returncode == 5
    assert '- {"tag": null, "title": "Old"}' in changed.stdout
    assert '+ {"tag": null, "title": "Home"}' in changed.stdout
    assert len(titles.requests) == asked
