from crawler.portal.runs.process import RunProcess
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

    words = process(tmp_path, task, job=1).command()[3:]

    assert words[:2] == ["run", "shop.py:Prices"]
    assert words[2:8] == ["-a", "tag=a b", "-s", "delay=1", "--fail-if", "failed>1%"]
    assert words[8:] == [f"--job={tmp_path}/1/job", f"--output={tmp_path}/1/out.csv", "--live=0"]


def test_without_a_spider_the_urls_are_crawled(tmp_path):
    task = Task("t", urls=("http://x.test/",), arguments={"tag": "x"})

    assert process(tmp_path, task).command()[3:5] == ["crawl", "http://x.test/"]
    assert "-a" not in process(tmp_path, task).command()


def test_the_log_does_not_have_the_token(tmp_path):
    one = process(tmp_path, Task("t", urls=("http://x.test/",)))
    one.path.mkdir()
    (one.path / "log.txt").write_text(f"live page: http://127.0.0.1:81/{'t' * 32}/\nmore\n")

    assert one.live_url == f"http://127.0.0.1:81/{'t' * 32}/"
    assert one.log_end() == "live page: http://127.0.0.1:81/…/\nmore\n"


def test_a_run_without_files_has_nothing(tmp_path):
    one = process(tmp_path, Task("t", urls=("http://x.test/",)))

    assert (one.is_alive, one.exit_code, one.live_url, one.log_end()) == (False, None, "", "")
    one.stop()


def test_the_log_of_a_run_is_read_from_its_end(tmp_path):
    one = process(tmp_path, Task("t", urls=("http://x.test/",)))
    one.path.mkdir()
    (one.path / "log.txt").write_text("x" * 10**6 + "end")

    assert one.log_end().endswith("end")
    assert len(one.log_end()) <= 65536
