import gevent
import pytest

from crawler.scheduler.large_pages import LargePages


def rested(seconds=1000.0, waiting=3):
    """Return what is left to rest, for hours, after an analysis of so many *seconds*."""
    pages = LargePages(lambda: waiting)
    with pages.analysing():
        pass
    pages._seconds = seconds
    return pages


@pytest.fixture(autouse=True)
def deadline():
    with gevent.Timeout(120):
        yield


def others(pages, times):
    """Let so many other pages be analysed while a large one rests."""
    for _ in range(times):
        gevent.sleep(0.01)
        assert pages.resting
        pages.note_other()


def test_a_large_page_waits_while_other_pages_come_and_goes_on_when_they_do_not(monkeypatch):
    monkeypatch.setattr("crawler.scheduler.large_pages._PATIENCE", 2.0)
    pages = rested()
    page = gevent.spawn(pages.rest, lambda: False)

    others(pages, times=20)
    page.get()

    assert not pages.resting


def test_the_rest_is_over_in_time():
    pages = rested()
    pages._ended -= 118.5
    page = gevent.spawn(pages.rest, lambda: False)

    others(pages, times=1)

    page.get()


@pytest.mark.parametrize("seconds", [0.0, 0.09])
def test_after_a_short_analysis_there_is_no_rest(seconds):
    rested(seconds).rest(is_alone=lambda: pytest.fail("it did not matter"))


def test_nobody_rests_for_others_who_have_no_work():
    pages = rested()
    is_alone = False
    page = gevent.spawn(pages.rest, lambda: is_alone)
    others(pages, times=3)

    is_alone = True
    pages.note_other()
    page.get()


@pytest.mark.parametrize(("waiting", "seconds"), [(0, 80), (3, 20), (79, 1)])
def test_the_more_large_pages_wait_the_shorter_is_the_rest(waiting, seconds):
    pages = rested(1.0, waiting)

    assert pages._due == pytest.approx(pages._ended + seconds)
