"""The links of one page."""

import json

import pytest

from crawler.testing import LoopbackSite, Reply

from ..conftest import crawler


@pytest.fixture
def site():
    pages = {
        "/": '<a href="/next">next</a>',
        "/gone": Reply(404, body="<h1>gone</h1>"),
        "/left": Reply(302, {"location": "/right"}),
        "/right": Reply(302, {"location": "/left"}),
        "/nowhere": Reply(302, {"location": "http://["}),
        "/picture": Reply(200, {"content-type": "image/png"}, b"\x89PNG\r\n\x1a\n"),
        "/robots.txt": "User-agent: *\nDisallow: /",
    }
    pages |= {f"/{n}": Reply(302, {"location": f"/{n + 1}"}) for n in range(20)}
    with LoopbackSite(pages) as site:
        yield site


def test_a_page_without_links_prints_nothing(site, tmp_path):
    plain = crawler("links", site.url("/picture"), cwd=tmp_path)
    as_json = crawler("links", site.url("/picture"), "--json", cwd=tmp_path)

    assert (plain.returncode, plain.stdout, plain.stderr) == (0, "", "")
    assert json.loads(as_json.stdout) == []


def test_the_links_of_an_error_page_are_printed_and_the_exit_code_is_1(site, tmp_path):
    done = crawler("links", site.url("/gone"), cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"crawler: {site.url('/gone')} answered 404\n"
