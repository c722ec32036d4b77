"""A disk that is full, or fails, ends a crawl with one clear error; what is there can be gone on with."""

import errno
import os
import resource
import subprocess
import sys
from contextlib import contextmanager
from itertools import cycle
from random import Random

import pytest

from crawler import crawl
from crawler.bench.kill.killed_crawl import ARCHIVE, FEEDS
from crawler.bench.kill.output_check import OutputCheck, check_outputs
from crawler.errors import JobError
from crawler.feed import FeedError
from crawler.feed import append_file as file
from crawler.job.directory import Job
from crawler.spider import PageSpider
from crawler.testing import Site, generated_site

#: Bytes by which the largest of a crawl's files grow to 100 kB in 200 steps.
STEP = 500
ALL = range(1, 201)
SOME = [1, 2, 5, 20, 77, 200]


@pytest.fixture
def site():
    return Site(generated_site(pages=80, size=1000))


@contextmanager
def files_of_at_most(size):
    """Let the operating system refuse whatever would make any file of this process longer."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def run(path, site, prepare=lambda _: None):
    """Crawl in the job directory *path*; return the exit code, and what went wrong."""
    try:
        with Job(path) as job:
            for name in FEEDS:
                job.open_feed(str(path / name))
            job.open_archive(str(path / ARCHIVE))
            prepare(job)
            result = crawl(
                PageSpider(start_urls=[site.url()]), job=job, fetch=site, depth=None, delay=0
            )
    except (JobError, FeedError, OSError) as error:
        return 6, error
    return result.exit_code, result.failure


def check_failed(path, code, failure):
    assert code == 6
    assert str(path) in str(failure)
    assert "\n" not in str(failure)
    if isinstance(failure, JobError):
        assert "correct that and" in str(failure)


def check_whole(path, site, code):
    assert code == 0
    found = check_outputs(path, set(site.pages))
    assert found == OutputCheck(0, 0, 0, 0, [])


def survives(path, site, capfd, **how):
    """Crawl into a wall, then without it; return if there was one."""
    with how.pop("limit", files_of_at_most(resource.RLIM_INFINITY)):
        code, failure = run(path, site, **how)
    if code:
        check_failed(path, code, failure)
    check_whole(path, site, run(path, site)[0])
    assert "Traceback" not in capfd.readouterr().err
    return bool(code)


def cases(sizes):
    return [pytest.param(SOME, id="some"), pytest.param(sizes, id="all", marks=LONG)]


LONG = [pytest.mark.long, pytest.mark.timeout(1800)]


@pytest.mark.parametrize("numbers", cases(ALL))
def test_no_file_can_grow_beyond_so_many_bytes(quick_path, site, capfd, numbers):
    """What fails first is SQLite's log, in one of its pages or another, or an output."""
    failed = [
        survives(quick_path / str(n), site, capfd, limit=files_of_at_most(n * STEP))
        for n in numbers
    ]

    assert sum(failed) > len(numbers) / 2


class FailingOs:
    """The os module, whose n-th write fails, and all after it."""

    def __init__(self, n, error):
        self.left = n
        self.error = error

    def write(self, descriptor, content):
        self.left -= 1
        if self.left < 0:
            raise OSError(self.error, os.strerror(self.error))
        if not self.left:
            # As a disk does that is nearly full: a part of it fits.
            return os.write(descriptor, content[: len(content) // 2])
        return os.write(descriptor, content)

    def __getattr__(self, name):
        return getattr(os, name)


@pytest.mark.parametrize("numbers", cases(ALL))
def test_the_nth_write_of_an_output_fails(quick_path, site, capfd, monkeypatch, numbers):
    for n, error in zip(numbers, cycle([errno.ENOSPC, errno.EIO]), strict=False):
        monkeypatch.setattr(file, "os", FailingOs(n, error))
        code, failure = run(quick_path / str(n), site)
        monkeypatch.setattr(file, "os", os)

        assert code == 6
        assert os.strerror(error) in str(failure)
        check_whole(quick_path / str(n), site, run(quick_path / str(n), site)[0])
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("pages", [9, 10, 11])
def test_the_state_can_take_so_many_pages(quick_path, site, capfd, pages):
    def limit(job):
        [(most,)] = job.journal.store.rows(f"PRAGMA max_page_count = {pages}")
        assert most >= pages

    path = quick_path / "job"
    code, failure = run(path, site, prepare=limit)

    check_failed(path, code, failure)
    assert "database or disk is full" in str(failure)
    check_whole(path, site, run(path, site)[0])
    assert "Traceback" not in capfd.readouterr().err


@pytest.fixture
def small_disk(tmp_path):
    """A file system of one megabyte, where we may mount one."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not permitted")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.parametrize("taken", [700, 850, 1000])
def test_a_disk_that_is_full(small_disk, site, capfd, taken):
    path, ballast = small_disk / "job", small_disk / "ballast"
    ballast.write_bytes(b"x" * taken * 1024)

    code, failure = run(path, site)
    ballast.unlink()
    grown = subprocess.run(
        ["mount", "-o", "remount,size=64m", str(small_disk)], capture_output=True, check=False
    )

    assert not grown.returncode
    check_failed(path, code, failure)
    check_whole(path, site, run(path, site)[0])
    assert "Traceback" not in capfd.readouterr().err


def test_a_directory_that_cannot_be_written_to(tmp_path):
    (tmp_path / "job").mkdir(mode=0o555)
    for place in (tmp_path, *tmp_path.parents[:2]):
        place.chmod(0o755)
    # Whoever is root may write anywhere, and stops being it in a process of its own.
    code = """
import os, sys
from crawler.job.directory import Job
if os.getuid() == 0:
    os.setuid(65534)
Job(sys.argv[1])
"""
    ended = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "job")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    said = ended.stderr.splitlines()[-1]
    assert ended.returncode
    assert "Permission denied" in said
    assert str(tmp_path / "job") in said


def test_random_sizes_are_survived(quick_path, site, capfd):
    chance = Random(9)
    for n in range(3):
        size = chance.randrange(20_000, 400_000)
        survives(quick_path / str(n), site, capfd, limit=files_of_at_most(size))
