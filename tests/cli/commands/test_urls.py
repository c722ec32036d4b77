"""Every URL of a job, with its outcome."""

import json

import pytest

from ..conftest import QUICK, crawler


def test_urls_prints_each_url_once(linked, tmp_path):
    crawler("crawl", linked.url("/"), *QUICK, "--job", "here", cwd=tmp_path)

    lines = crawler("urls", "here", cwd=tmp_path).stdout.splitlines()
    away = crawler("urls", "here", "--outcome", "turned_away", "--json", cwd=tmp_path).stdout
    moved = f"{linked.url('/moved')} -> {linked.url('/3')}"

    assert len(lines) == len(set(lines)) == 15
    assert sum(line.startswith("done ") for line in lines) == 13
    assert any(line.endswith(moved) for line in lines), lines
    reasons = {story["url"]: story["reason"] for story in map(json.loads, away.splitlines())}
    assert reasons["http://elsewhere.test/"] == "domain"


@pytest.mark.parametrize("command", ["urls", "report"])
def test_a_directory_without_a_job_is_an_error_of_one_line(tmp_path, command):
    (tmp_path / "empty").mkdir()

    done = crawler(command, "empty", cwd=tmp_path)

    assert done.returncode != 0
    assert done.stderr == (
        "crawler: empty is not a job directory: state.db is missing; `crawler jobs` lists those here\n"
    )
