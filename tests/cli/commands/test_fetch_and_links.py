"""One page: its body, its head and its links."""

import json

from ..conftest import crawler


def test_fetch_and_links(titles, tmp_path):
    body = crawler("fetch", titles.url("/a"), cwd=tmp_path)
    head = crawler("fetch", titles.url("/a"), "--headers", cwd=tmp_path)
    found = crawler("links", titles.url("/"), "--json", cwd=tmp_path)
    broken = crawler("fetch", "http://127.0.0.1:1/", cwd=tmp_path)

    assert body.stdout == "<title>A</title>"
    assert head.stdout.startswith(f"200 {titles.url('/a')}\n")
    assert json.loads(found.stdout) == [titles.url("/a"), titles.url("/gone")]
    whole = json.loads(crawler("fetch", titles.url("/a"), "--json", cwd=tmp_path).stdout)
    assert (whole["url"], whole["status"]) == (titles.url("/a"), 200)
    assert whole["text"] == "<title>A</title>"
    assert ["content-type", "text/html; charset=utf-8"] in whole["headers"]
    assert broken.returncode == 1
    assert broken.stderr.startswith("crawler: http://127.0.0.1:1/: connect: ")
