"""One page, fetched and printed."""

import pytest

from ..conftest import crawler


@pytest.mark.parametrize("option", [[], ["--headers"], ["--json"]])
def test_an_error_page_is_printed_and_the_exit_code_is_1(odd_site, tmp_path, option):
    done = crawler("fetch", odd_site.url("/gone"), *option, cwd=tmp_path)

    assert done.returncode == 1
    assert done.stderr == f"crawler: {odd_site.url('/gone')} answered 404\n"
    assert ("404" if option else "<h1>gone</h1>") in done.stdout
