import gevent
import pytest

from crawler.job import JobView
from crawler.portal.job_page import job_page

from .conftest import HOSTILE, followed


@pytest.fixture
def finished(site, tmp_path):
    """The directory of a crawl that has finished."""
    site.release.set()
    with followed(site, tmp_path / "hostile") as crawl, gevent.Timeout(120):
        crawl.result.wait()
    return crawl.path


def test_it_has_everything_inside(finished):
    with JobView(finished) as view:
        text = job_page(view)

    assert "<dt>Total</dt><dd>6</dd>" in text
    assert "<link" not in text
    assert "<script" not in text
    assert "src=" not in text.replace("&#34;", "").replace("img src=x", "")
    assert "default-src &#39;none&#39;; style-src &#39;sha256-" in text


def test_hostile_text_is_escaped(finished):
    with JobView(finished) as view:
        assert HOSTILE not in job_page(view)


def test_the_page_of_a_running_job_has_what_is_certain(live):
    live.result.scheduler.pause()

    with JobView(live.path) as view:
        text = job_page(view)

    assert "running" in text
    assert "Queue" in text
