from crawler.job import Job, JobView
from crawler.report.final_report import final_report


def test_a_report_holds_until_the_job_is_continued(tmp_path):
    with Job(tmp_path) as job:
        job.begin({"spider": "s", "start_urls": [], "settings": {}, "source": ""})
        job.note("report", {"rows": [], "commits": job.journal.store.commits + 1})
    with JobView(tmp_path) as view:
        assert final_report(view) is not None

    with Job(tmp_path) as job:
        job.note("other", 1)
        job.journal.commits.flush(anyway=True)
    with JobView(tmp_path) as view:
        assert final_report(view) is None


def test_a_job_without_a_report_has_none(tmp_path):
    with Job(tmp_path):
        pass

    with JobView(tmp_path) as view:
        assert final_report(view) is None
