"""The demo crawls its own site."""

import json

from ..conftest import crawler_process


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_demo_crawls_the_bundled_site_and_reports(tmp_path):
    done = crawler_process("demo", "--pages", "100", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "98 done, 1 failed, 0 pending" in done.stdout
    assert "truncated 1" in done.stdout
    pages = records(tmp_path / "crawls/demo/pages.jsonl")
    assert len(pages) == 98
    assert {page["status"] for page in pages} == {200, 404}
