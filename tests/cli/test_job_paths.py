"""How a job is named."""

from .conftest import QUICK, crawler


def test_a_bare_name_is_a_job_below_crawls(linked, tmp_path):
    crawler("crawl", linked.url("/"), *QUICK, "--job", "crawls/mine", cwd=tmp_path)
    (tmp_path / "mine").mkdir()

    urls = crawler("urls", "mine", cwd=tmp_path)
    report = crawler("report", "mine", cwd=tmp_path)
    why = crawler("why", linked.url("/0"), "--job", "mine", cwd=tmp_path)

    assert len(urls.stdout.splitlines()) == 15, urls.stderr
    assert "13 done" in report.stdout
    assert "(in crawls/mine)" in why.stdout


def test_the_name_of_a_spider_leads_to_its_jobs_with_arguments(linked, tmp_path):
    crawler("crawl", linked.url("/20"), *QUICK, "--job", "crawls/mine-1", cwd=tmp_path)

    unknown = crawler("report", "Mine", cwd=tmp_path)

    assert unknown.returncode == 2
    assert "no job is called 'Mine'; did you mean mine-1?" in unknown.stderr


def test_a_job_here_goes_before_one_below_crawls(linked, tmp_path):
    crawler("crawl", linked.url("/"), *QUICK, "--job", "crawls/mine", cwd=tmp_path)
    crawler("crawl", linked.url("/20"), *QUICK, "--job", "mine", cwd=tmp_path)

    urls = crawler("urls", "mine", cwd=tmp_path)

    assert urls.stdout.split() == ["done", linked.url("/20")]
