"""One page, fetched and printed."""

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
def test_an_error_page_is_printed_and_the_exit_code_is_1(site, tmp_path, option):
    done = crawler("fetch", site.url("/gone"), *option, cwd=tmp_path)

    assert done.returncode == 1
    assert done.stderr == f"crawler: {site.url('/gone')} answered 404\n"
    assert ("404" if option else "<h1>gone</h1>") in done.stdout
