import sys
from pathlib import Path

import gevent
import pytest

from crawler.portal.projects.limited_process import Failed, run_limited


@pytest.fixture
def run(tmp_path):
    def run(code, seconds=120.0):
        log = tmp_path / "log"
        run_limited(
            [sys.executable, "-c", code], cwd=tmp_path, home=tmp_path, seconds=seconds, log=log
        )
        return log.read_text()

    return run


def test_it_sees_no_environment_of_the_portal(run, monkeypatch, tmp_path):
    monkeypatch.setenv("CRAWLER_PORTAL_KEY", "secret")

    text = run("import os; print(sorted(os.environ)); print(os.environ['HOME'])")

    assert "CRAWLER" not in text
    assert str(tmp_path) in text


def test_a_failure_has_its_words_in_the_log(run, tmp_path):
    with pytest.raises(Failed, match="ended with 3"):
        run("import sys; print('no such package'); sys.exit(3)")

    assert (tmp_path / "log").read_text() == "no such package\n"


def test_it_ends_in_time_with_all_that_it_has_started(run, tmp_path):
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "open('pid', 'w').write(str(child.pid)); time.sleep(600)"
    )
    running = gevent.spawn(run, code, 120)
    with gevent.Timeout(110):
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            gevent.sleep(0.01)
    child = int((tmp_path / "pid").read_text())

    running.kill()  # as when the time is over

    with gevent.Timeout(120):
        while is_alive(child):
            gevent.sleep(0.01)


def test_a_program_that_takes_too_long_has_failed(run):
    with pytest.raises(Failed, match="longer than 0 s"):
        run("import time; time.sleep(600)", seconds=0.01)


def is_alive(pid):
    """Return whether there is such a process, and it is not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_memory_and_files_have_limits(run):
    text = run(
        "import resource as r; print(r.getrlimit(r.RLIMIT_AS)[0] <= 4 << 30, "
        "r.getrlimit(r.RLIMIT_FSIZE)[0] <= 500 << 20)"
    )

    assert text == "True True\n"
