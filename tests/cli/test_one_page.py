"""One page without a crawl: redirects, robots.txt and errors."""

import pytest

from crawler.testing import LoopbackSite, Reply

from .conftest import crawler


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


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/left", "redirect_loop: {}right redirects to {}left again"),
        ("/0", "redirect_limit: more than 10 redirects"),
        ("/nowhere", "redirects to a target that is not a URL"),
    ],
)
@pytest.mark.parametrize("command", ["fetch", "links"])
def test_a_bad_redirect_is_an_error_of_one_line(site, tmp_path, command, path, reason):
    done = crawler(command, site.url(path), cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"crawler: {site.url(path)}")
    assert reason.format(site.url(), site.url()) in done.stderr
    assert done.stderr.count("\n") == 1
    assert len(site.requests) <= 11


def test_robots_txt_is_not_read_and_help_says_so(site, tmp_path):
    done = crawler("fetch", site.url("/"), cwd=tmp_path)
    help_text = crawler("fetch", "--help", cwd=tmp_path).stdout

    assert done.returncode == 0
    assert [hit.path for hit in site.requests] == ["/"]
    assert "does not read robots.txt" in help_text
