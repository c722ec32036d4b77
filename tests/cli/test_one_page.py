"""One page without a crawl: what is printed, what is said, and how it ends."""

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


@pytest.mark.parametrize("option", [[], ["--headers"], ["--json"]])
def test_a_page_that_is_no_success_is_printed_and_told_of(site, tmp_path, option):
    done = crawler("fetch", site.url("/gone"), *option, cwd=tmp_path)

    assert done.returncode == 1
    assert done.stderr == f"crawler: {site.url('/gone')} answered 404\n"
    assert ("404" if option else "<h1>gone</h1>") in done.stdout


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/left", "redirect_loop: {}right sends to {}left again"),
        ("/0", "redirect_limit: sent on over 10 times"),
        ("/nowhere", "sends to what is not a URL"),
    ],
)
@pytest.mark.parametrize("command", ["fetch", "links"])
def test_redirects_that_lead_nowhere_are_told_of_in_one_line(site, tmp_path, command, path, reason):
    done = crawler(command, site.url(path), cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"crawler: {site.url(path)}")
    assert reason.format(site.url(), site.url()) in done.stderr
    assert done.stderr.count("\n") == 1
    assert len(site.requests) <= 11


def test_robots_txt_is_not_asked_and_help_says_so(site, tmp_path):
    done = crawler("fetch", site.url("/"), cwd=tmp_path)
    told = crawler("fetch", "--help", cwd=tmp_path).stdout

    assert done.returncode == 0
    assert [hit.path for hit in site.requests] == ["/"]
    assert "robots.txt is not asked" in told


def test_what_has_no_links_gives_no_line(site, tmp_path):
    plain = crawler("links", site.url("/picture"), cwd=tmp_path)
    as_json = crawler("links", site.url("/picture"), "--json", cwd=tmp_path)

    assert (plain.returncode, plain.stdout, plain.stderr) == (0, "", "")
    assert json.loads(as_json.stdout) == []


def test_the_links_of_a_page_that_is_no_success_are_told_of_as_such(site, tmp_path):
    done = crawler("links", site.url("/gone"), cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"crawler: {site.url('/gone')} answered 404\n"
