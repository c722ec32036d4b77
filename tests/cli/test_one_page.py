"""One page without a crawl: redirects, robots.txt and errors."""

import pytest

from crawler.testing import LoopbackSite, Reply

from .conftest import crawler


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/left", "redirect_loop: {}right redirects to {}left again"),
        ("/0", "redirect_limit: more than 10 redirects"),
        ("/nowhere", "redirects to a target that is not a URL"),
    ],
)
@pytest.mark.parametrize("command", ["fetch", "links"])
def test_a_bad_redirect_is_an_error_of_one_line(odd_site, tmp_path, command, path, reason):
    done = crawler(command, odd_site.url(path), cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"crawler: {odd_site.url(path)}")
    assert reason.format(odd_site.url(), odd_site.url()) in done.stderr
    assert done.stderr.count("\n") == 1
    assert len(odd_site.requests) <= 11


def test_robots_txt_is_not_read_and_help_says_so(odd_site, tmp_path):
    done = crawler("fetch", odd_site.url("/"), cwd=tmp_path)
    help_text = crawler("fetch", "--help", cwd=tmp_path).stdout

    assert done.returncode == 0
    assert [hit.path for hit in odd_site.requests] == ["/"]
    assert "does not read robots.txt" in help_text


@pytest.mark.parametrize("command", ["fetch", "links"])
def test_the_url_is_trusted_by_its_address_and_its_redirects_are_not(tmp_path, command):
    with LoopbackSite({"/secret": "the secret"}) as site:
        inner = f"http://localhost:{site.port}/secret"
        site.pages |= {"/": Reply(302, {"location": inner})}

        done = crawler(command, site.url(), cwd=tmp_path)
        allowed = crawler(command, inner, cwd=tmp_path)

    assert done.returncode == 1
    assert "blocked_address: " in done.stderr
    assert done.stderr.endswith("add 'localhost' to the setting allow_addresses\n")
    assert allowed.returncode == 0
    assert [hit.path for hit in site.requests] == ["/", "/secret"]
