"""The options that benchmarks share."""

import io
import sys

import pytest

from crawler.cli.commands.bench import options


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("term", "shown"), [("dumb", "1/3 ours\n"), ("xterm", "\r\033[K1/3 ours\r\033[K")]
)
def test_progress_is_shown_in_place_only_if_the_terminal_can_do_that(term, shown, monkeypatch):
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr(sys, "stderr", Terminal())

    options.show_progress("1/3 ours")
    options.show_progress("")

    assert sys.stderr.getvalue() == shown
