"""The pages in a real browser: they update, hostile text stays text, nothing overflows."""

import gevent
import pytest
from playwright.sync_api import expect

from crawler.job import JobView
from crawler.portal.job_page import job_page

from .conftest import HOSTILE, followed, illegible, inaccessible, overhang, story_of


def keep_showing(live):
    """Show the crawl to its page as the command line does."""
    while True:
        live.page.show(live.progress.read())
        gevent.sleep(0.1)


@pytest.fixture
def shown(live):
    helper = gevent.spawn(keep_showing, live)
    yield live
    helper.kill()


def test_the_page_follows_the_crawl_to_its_end(shown, site, tab):
    tab.goto(shown.url)
    left = tab.locator("#queue dd").first
    assert left.inner_text() == "1"
    tab.get_by_role("button", name="Pause").click()
    tab.get_by_text("paused", exact=True).wait_for()
    tab.get_by_role("button", name="Resume").click()
    tab.get_by_text("running", exact=True).wait_for()

    site.release.set()
    expect(left).to_have_text("0")
    shown.result.wait()
    shown.page.end(shown.progress.read())

    tab.get_by_text("The crawl has ended").wait_for()
    assert tab.locator("#status .state").inner_text() == "finished"
    assert tab.title() == "hostile · finished"


def test_hostile_text_is_shown_as_text(live, tab):
    tab.goto(live.url)

    assert tab.title() == "hostile · running"
    assert HOSTILE in tab.locator("#records").inner_text()
    assert r"\u202e" in tab.locator("#records").inner_text()
    assert f"ValueError: no price in {HOSTILE}" in tab.locator("#errors").inner_text()
    assert "http://else.test/%3Cb%3E" in tab.locator("#outcomes").inner_text()
    assert tab.locator("main img, main script, main b b").count() == 0


def test_the_story_of_a_url_is_one_click_away(live, site, tab):
    story_of(live, site.url("/bad"))
    tab.goto(live.url)
    tab.locator("#errors summary").first.click()
    tab.locator("#errors a").first.click()

    assert tab.locator("h1").inner_text().endswith("/bad")
    assert "a callback or a middleware raised an exception" in tab.locator("main").inner_text()
    assert tab.locator("pre").inner_text().startswith("Traceback")


def test_the_page_needs_no_script(live, site, browser):
    context = browser.new_context(java_script_enabled=False, color_scheme="dark")
    context.set_default_timeout(120_000)
    tab = context.new_page()
    tab.goto(live.url)
    assert tab.locator("#queue dd").first.inner_text() == "1"

    tab.get_by_role("button", name="Pause").click()
    live.page.show(live.progress.read())
    tab.reload()

    assert tab.locator("#status .state").inner_text() == "paused"
    tab.get_by_label("Host", exact=True).fill("127.0.0.1")
    tab.get_by_label("Seconds").fill("7.5")
    tab.get_by_role("button", name="Set the delay").click()
    assert [host.delay for host in live.result.scheduler.hosts()] == [7.5]
    tab.get_by_text("Stop…").click()
    tab.get_by_role("button", name="Stop the crawl").click()
    assert live.stopped.is_set()
    context.close()


def test_no_page_is_wider_than_the_window(live, tab):
    for url in (live.url, f"{live.url}why?url=http://127.0.0.1/{'x' * 300}"):
        tab.goto(url)
        for width in (360, 820, 1280):
            tab.set_viewport_size({"width": width, "height": 800})
            assert overhang(tab) <= 0, (url, width)
            assert illegible(tab) == [], (url, width)


def test_the_page_can_be_used_by_everybody(live, browser):
    # The rules are a script, which the policy of the page would refuse.
    context = browser.new_context(bypass_csp=True)
    context.set_default_timeout(120_000)
    tab = context.new_page()
    for number in range(20):
        live.page.records({"number": number})  # more than their box shows at once
    tab.goto(live.url)
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        assert inaccessible(tab) == {}, scheme
    context.close()


def test_the_page_of_a_job_opens_without_a_network(site, tab, tmp_path):
    site.release.set()
    with followed(site, tmp_path / "hostile") as crawl:
        crawl.result.wait()
    with JobView(crawl.path) as view:
        (tmp_path / "report.html").write_text(job_page(view))
    tab.context.set_offline(True)

    tab.goto((tmp_path / "report.html").as_uri())

    assert tab.title() == "hostile · finished"
    assert HOSTILE in tab.locator("main").inner_text()
    assert tab.locator("script").count() == 0
    border = tab.evaluate("getComputedStyle(document.querySelector('section')).borderTopStyle")
    assert border == "solid"  # its policy allows its own style
