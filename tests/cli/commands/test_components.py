"""The components of a spider, in order."""

import pytest

from ..conftest import crawler


@pytest.mark.parametrize(
    "args", [["demo", "--pages", "-4"], ["components", "titles.py:Titles", "--pages", "-1"]]
)
def test_a_negative_number_of_pages_is_an_error(titles, tmp_path, args):
    done = crawler(*args, cwd=tmp_path)

    assert done.returncode == 2
    assert f"{args[-1]} is not in the range" in done.stderr
    assert done.stderr.count("\n") == 1


def test_components_are_shown_in_order_with_their_figures(titles, tmp_path):
    (tmp_path / "with_mw.py").write_text(
        (tmp_path / "titles.py").read_text()
        + """
from crawler.middleware import Depth, Cookies
class Ordered(Titles):
    middlewares = [lambda: Depth(1)]
    download_middlewares = [Cookies]
    pipelines = [print, "json:dumps"]
"""
    )

    done = crawler(
        "components", "with_mw.py:Ordered", "--pages", "2", "-s", "delay=0", cwd=tmp_path
    )

    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.rsplit(maxsplit=1) for line in lines[:5]] == [
        ["download middleware", "Cookies"],
        ["spider middleware", "Depth"],
        ["spider", "Ordered"],
        ["item pipeline", "print"],
        ["item pipeline", "json:dumps"],
    ]
    assert any(line.startswith("Depth.process_request: ") and "calls" in line for line in lines)
    help_text = crawler("components", "--help", cwd=tmp_path).stdout
    assert "the number of calls, drops and failures" in " ".join(help_text.split())
