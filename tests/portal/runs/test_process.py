from pathlib import Path

from crawler.portal.runs.process import RunProcess, _without_secrets
from crawler.portal.store.runs import Run
from crawler.portal.store.tasks import Task


def process(root, task, **options):
    values = {
        "id": 2,
        "task": 1,
        "number": 1,
        "job": 2,
        "spec": task.to_json(),
        "state": "running",
        "token": "t" * 32,
        "asked_by": "anna",
        "asked": 0.0,
        "began": None,
        "ended": None,
        "exit": None,
    }
    return RunProcess(Run(**values | options), root)


def test_the_command_has_all_that_the_task_says(tmp_path):
    task = Task(
        "t",
        spider="shop.py:Prices",
        arguments={"tag": "a b"},
        settings={"delay": "1"},
        gates=("failed>1%",),
        output="out.csv",
    )

    words = process(tmp_path, task, job=1).command(Path("python"))[3:]

    assert words[:2] == ["run", "shop.py:Prices"]
    assert words[2:8] == ["-a", "tag=a b", "-s", "delay=1", "--fail-if", "failed>1%"]
    assert words[8:10] == [f"--job={tmp_path}/1/job", f"--output={tmp_path}/1/out.csv"]
    assert words[10:] == ["--live=0", "--log-json", "-LINFO"]


def test_without_a_spider_the_urls_are_crawled(tmp_path):
    task = Task("t", urls=("http://x.test/",), arguments={"tag": "x"})

    assert process(tmp_path, task).command(Path("python"))[3:5] == ["crawl", "http://x.test/"]
    assert "-a" not in process(tmp_path, task).command(Path("python"))


def test_the_log_says_where_the_live_page_is(tmp_path):
    one = process(tmp_path, Task("t", urls=("http://x.test/",)))
    one.path.mkdir()
    (one.path / "log.txt").write_text(f"live page: http://127.0.0.1:81/{'t' * 32}/\nmore\n")

    assert one.live_url == f"http://127.0.0.1:81/{'t' * 32}/"


def test_a_run_without_files_has_nothing(tmp_path):
    one = process(tmp_path, Task("t", urls=("http://x.test/",)))

    assert (one.is_alive, one.exit_code, one.live_url) == (False, None, "")
    one.stop()


def test_a_run_does_not_see_the_key_of_the_portal():
    environ = {"CRAWLER_PORTAL_KEY": "x", "CRAWLER_REDIS": "y", "CRAWLER_DELAY": "1"}

    assert _without_secrets(environ) == {"CRAWLER_DELAY": "1"}


def test_the_command_says_that_what_has_failed_is_fetched_again(tmp_path):
    task = Task("t", urls=("http://x.test/",))

    for reason in ("", "http_500"):
        retried = process(tmp_path, task, start="retry", reason=reason)
        assert f"--retry-failed={reason}" in retried.command(Path("python"))


def test_the_command_says_that_the_job_starts_over_and_its_records_are_replaced(tmp_path):
    fresh = process(tmp_path, Task("t", urls=("http://x.test/",)), job=1, start="fresh")

    words = fresh.command(Path("python"))
    assert words[5:8] == [f"--job={tmp_path}/1/job", "--fresh", "--yes"]
    assert words[8] == f"--overwrite={tmp_path}/1/items.jsonl"
