"""The job directory of a crawl: continued, started over, or refused."""

import json
import re
import signal
import subprocess
import time

import pytest

from .conftest import CRAWLER, QUICK, crawler, job_of


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_same_command_continues_the_job(linked, tmp_path):
    command = ("crawl", linked.url("/"), *QUICK)
    first = crawler(*command, "--max-pages", "5", cwd=tmp_path)
    second = crawler(*command, cwd=tmp_path)
    fetched = len(linked.requests)
    third = crawler(*command, cwd=tmp_path)

    assert (first.returncode, second.returncode, third.returncode) == (0, 0, 0), second.stderr
    assert "continuing" not in first.stderr
    assert f"continuing {job_of(linked)}: 5 done" in second.stderr
    assert "has nothing left to do" in third.stderr
    assert len(linked.requests) == fetched
    urls = [record["url"] for record in records(tmp_path / job_of(linked) / "pages.jsonl")]
    assert len(urls) == len(set(urls)) == 13


def test_fresh_starts_over(linked, tmp_path):
    command = ("crawl", linked.url("/"), *QUICK, "-O", "pages.jsonl")
    crawler(*command, cwd=tmp_path)
    fetched = len(linked.requests)

    again = crawler(*command, "--fresh", cwd=tmp_path)

    assert again.returncode == 0, again.stderr
    assert len(linked.requests) == 2 * fetched
    assert len(records(tmp_path / "pages.jsonl")) == 13


def test_fresh_starts_over_where_the_state_was_removed(linked, tmp_path):
    command = ("crawl", linked.url("/"), *QUICK)
    crawler(*command, cwd=tmp_path)
    (tmp_path / job_of(linked) / "state.db").unlink()

    refused = crawler(*command, cwd=tmp_path)
    again = crawler(*command, "--fresh", cwd=tmp_path)

    assert refused.returncode == 6
    assert "commits are missing): put a copy back, or start over with --fresh" in refused.stderr
    assert again.returncode == 0, again.stderr
    assert len(records(tmp_path / job_of(linked) / "pages.jsonl")) == 13


def test_fresh_asks_first_on_a_terminal_if_pages_are_left(linked, tmp_path, terminal):
    command = ("crawl", linked.url("/"), *QUICK)
    crawler(*command, "--max-pages", "5", cwd=tmp_path)
    fetched = len(linked.requests)

    shown = terminal(*command, "--fresh")
    shown.read_until(
        rf"{job_of(linked)} is not finished \(page_limit\), \d+ pages? left. Delete .* start over"
    )
    shown.press(b"n\r")

    assert shown.wait() == 3
    assert "crawler: nothing was deleted, and nothing was crawled" in shown.text
    assert "interrupted" not in shown.text
    assert len(linked.requests) == fetched


@pytest.mark.parametrize(
    ("pages", "options"), [(None, []), (5, ["--yes"])], ids=["finished", "yes"]
)
def test_fresh_does_not_ask_where_nothing_is_lost_or_yes_is_given(
    linked, tmp_path, terminal, pages, options
):
    command = ("crawl", linked.url("/"), *QUICK, *(["--max-pages", pages] if pages else []))
    crawler(*command, cwd=tmp_path)
    fetched = len(linked.requests)

    shown = terminal(*command, "--fresh", *options)

    assert shown.wait() == 0
    assert "start over?" not in shown.text
    assert {"/", "/0", "/1", "/moved"} <= {hit.path for hit in linked.requests[fetched:]}


def test_fresh_asks_where_it_cannot_know_what_is_lost(linked, tmp_path, terminal):
    command = ("crawl", linked.url("/"), *QUICK)
    crawler(*command, cwd=tmp_path)
    (tmp_path / job_of(linked) / "state.db").write_bytes(b"damaged" * 1000)

    shown = terminal(*command, "--fresh")
    shown.read_until("cannot be read.*start over")
    shown.press(b"y\r")

    assert shown.wait() == 0


def test_a_url_after_retry_failed_is_not_taken_for_a_reason(linked, tmp_path):
    done = crawler("crawl", "--retry-failed", linked.url("/"), cwd=tmp_path)

    assert done.returncode == 2
    assert "takes reasons such as timeout,http_500, not 'http" in done.stderr
    assert "write it last" in done.stderr


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (("-O", "o.xyz"), "'o.xyz' does not name a format"),
        (("-O", "one.jsonl", "-O", "s3://bucket/x.jsonl"), "'s3://bucket/x.jsonl' is a URL"),
        (("-O", "/proc/x.csv"), "no file can be made there: '/proc'"),
        (("-O", "one.jsonl/x/y.csv"), "Not a directory"),
        (("-O", "a:jsonl"), "Is a directory: 'a'"),
        (("-O", "none/../../../../../../../../../../proc/x.csv"), "no file can be made there"),
        (("--warc", "/proc/no/x.warc"), "no file can be made there: '/proc'"),
        (("--warc", "x.zip"), "'x.zip' is not the name of an archive"),
        (("--warc", "s3://bucket/x.warc"), "'s3://bucket/x.warc' is a URL"),
        (("--report", "nowhere/x.json"), "nowhere is not a directory"),
        (("--report", "/proc/x.json"), "no file can be made there: '/proc'"),
        (("--fail-if", "nonsense"), "not a condition"),
        (("-s", "nonsense=1"), "nonsense"),
    ],
    ids=str,
)
def test_nothing_is_deleted_before_everything_is_checked(linked, tmp_path, args, complaint):
    command = ("crawl", linked.url("/"), *QUICK, "--job", "a")
    crawler(*command, "-O", "one.jsonl", "--max-pages", "5", cwd=tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    wrong = crawler(*command, "--fresh", *args, cwd=tmp_path)

    assert wrong.returncode == 2
    assert complaint in wrong.stderr
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    again = crawler(*command, "-O", "one.jsonl", cwd=tmp_path)
    assert "continuing a: 5 done" in again.stderr


@pytest.mark.parametrize("option", ["-O", "-o", "--warc", "--job"])
def test_a_url_is_not_the_name_of_a_file(linked, tmp_path, option):
    place = "s3://bucket/x.warc" if option == "--warc" else "s3://bucket/x.jsonl"

    done = crawler("crawl", linked.url("/"), *QUICK, option, place, cwd=tmp_path)

    assert done.returncode == 2
    assert f"{place!r} is a URL, and only local files are written: name a file" in done.stderr
    assert not linked.requests
    assert not (tmp_path / "s3:").exists()


def test_a_job_continues_only_with_the_files_it_has_written(linked, tmp_path):
    """Another file would lack what was written before, and a finished job would write nothing."""
    command = ("crawl", linked.url("/"), *QUICK, "--job", "a")
    crawler(*command, "-O", "one.jsonl", cwd=tmp_path)
    (tmp_path / "two.jsonl").write_text("precious\n")

    other = crawler(*command, "-O", "two.jsonl", cwd=tmp_path)
    none = crawler(*command, "-o", "-", cwd=tmp_path)
    same = crawler(*command, "-O", "one.jsonl", cwd=tmp_path)

    assert (other.returncode, none.returncode, same.returncode) == (6, 6, 0)
    assert "two.jsonl would not have those records: name the same outputs again" in other.stderr
    assert "one.jsonl so far: name the same outputs again" in none.stderr
    assert "start over with --fresh" in none.stderr
    assert (tmp_path / "two.jsonl").read_text() == "precious\n"
    assert len(records(tmp_path / "one.jsonl")) == 13


def test_changed_settings_are_reported(linked, tmp_path):
    crawler("crawl", linked.url("/"), "-s", "delay=0", "--depth", "1", cwd=tmp_path)

    changed = ["-s", "fingerprint=mmh3", "--depth", "2"]
    deeper = crawler("crawl", linked.url("/"), "-s", "delay=0", *changed, cwd=tmp_path)

    assert f"{job_of(linked)}: depth was 1, and is 2 now" in deeper.stderr
    assert f"{job_of(linked)}: fingerprint stays as it was when the job began" in deeper.stderr
    urls = [record["url"] for record in records(tmp_path / job_of(linked) / "pages.jsonl")]
    assert linked.url("/1") in urls
    assert len(urls) == len(set(urls))


def test_the_job_of_another_spider_is_refused(linked, tmp_path):
    spider = (
        f"from crawler import Spider\nclass {{}}(Spider):\n    start_urls = [{linked.url()!r}]\n"
    )
    spider += "    def parse(self, response):\n        yield {{'n': 1}}\n"
    for name in ("A", "B"):
        (tmp_path / f"{name}.py").write_text(spider.format(name))
    crawler("run", "A.py", "--job", "one", cwd=tmp_path)

    done = crawler("run", "B.py", "--job", "one", cwd=tmp_path)

    assert done.returncode == 6
    assert "one is a job of 'A.py:A', not of 'B.py:B'" in done.stderr


def test_other_arguments_are_another_job(titles, tmp_path):
    args = ("run", "titles.py:Titles", "-s", "delay=0", "-O", "items.jsonl")

    for tag in ("x", "y"):
        crawler(*args, "-a", f"tag={tag}", cwd=tmp_path)
        assert {record["tag"] for record in records(tmp_path / "items.jsonl")} == {tag}
    assert len(list((tmp_path / "crawls").iterdir())) == 2
    assert not any("tag" in path.name for path in (tmp_path / "crawls").iterdir())


def test_a_directory_keeps_to_one_class_and_its_arguments(titles, tmp_path):
    args = ("--job", "one", "-s", "delay=0", "-O", "items.jsonl")
    crawler("run", "titles.py:Titles", "-a", "tag=x", *args, cwd=tmp_path)

    other = crawler("run", "titles.py:Titles", "-a", "tag=y", *args[:-1], "y.csv", cwd=tmp_path)

    assert other.returncode == 6
    assert (
        "one is a job of 'titles.py:Titles -a tag=x', not of 'titles.py:Titles -a tag=y': "
        "name another directory with --job, or start over with --fresh"
    ) in other.stderr
    assert crawler("run", "titles.py:Titles", "-a", "tag=x", *args, cwd=tmp_path).returncode == 1


def test_sigterm_leaves_a_job_that_can_be_continued(held, tmp_path):
    command = ("crawl", held.url("/0"), *QUICK)
    process = subprocess.Popen(
        [*CRAWLER, *command], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    wait_for(lambda: len(held.requests) > 10)
    process.send_signal(signal.SIGTERM)
    held.release.set()
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 3, errors
    assert re.search(r"stopped: \d+ pages left; run the same command to continue", errors)

    done = crawler(*command, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    urls = [record["url"] for record in records(tmp_path / job_of(held) / "pages.jsonl")]
    assert len(urls) == len(set(urls)) == 121
    paths = [hit.path for hit in held.requests]
    assert paths.count("/0") == 1


def wait_for(condition):
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_job_in_use_is_an_error_of_one_line(linked, tmp_path):
    from crawler.job.directory import Job

    with Job(tmp_path / "mine"):
        done = crawler("crawl", linked.url("/"), "--job", "mine", cwd=tmp_path)

    assert done.returncode == 6
    assert re.fullmatch(r"crawler: mine is in use by process \d+ on .*\n", done.stderr)
