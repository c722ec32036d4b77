"""The links of one page."""

import json

from ..conftest import crawler


def test_a_page_without_links_prints_nothing(odd_site, tmp_path):
    plain = crawler("links", odd_site.url("/picture"), cwd=tmp_path)
    as_json = crawler("links", odd_site.url("/picture"), "--json", cwd=tmp_path)

    assert (plain.returncode, plain.stdout, plain.stderr) == (0, "", "")
    assert json.loads(as_json.stdout) == []


def test_the_links_of_an_error_page_are_printed_and_the_exit_code_is_1(odd_site, tmp_path):
    done = crawler("links", odd_site.url("/gone"), cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"crawler: {odd_site.url('/gone')} answered 404\n"
