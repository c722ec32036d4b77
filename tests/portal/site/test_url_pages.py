"""The page of the URLs of a run."""

import re

from crawler.portal.site import url_pages


def urls_of(page):
    return re.findall(r'class="url"><a href="why\?url=[^"]+">([^<]+)<', page)


def test_the_urls_of_a_run_are_shown_by_outcome_and_reason_and_page_by_page(
    finished,
    viewer,
    monkeypatch,
):
    home, a, gone = map(finished.url, ("/", "/a", "/gone"))
    assert 'href="urls"' in viewer.ask("/runs/1/").text

    page = viewer.ask("/runs/1/urls").text
    assert urls_of(page) == [home, a, gone]
    assert "More URLs" not in page
    assert urls_of(viewer.ask("/runs/1/urls?outcome=done&reason=").text) == [home, a, gone]
    nothing = viewer.ask("/runs/1/urls?outcome=failed&reason=%3Cimg%3E").text
    assert "No URL of this run is like this." in nothing
    assert 'value="&lt;img&gt;"' in nothing

    monkeypatch.setattr(url_pages, "_MOST", 2)
    page = viewer.ask("/runs/1/urls").text
    assert urls_of(page) == [home, a]
    [more] = re.findall('href="(urls[^"]+after[^"]+)"', page)
    assert urls_of(viewer.ask("/runs/1/" + more.replace("&amp;", "&")).text) == [gone]

    assert viewer.ask("/runs/99/urls").status == 404
