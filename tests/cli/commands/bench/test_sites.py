"""The options that choose the sites of a benchmark."""

import click
import pytest
from click.testing import CliRunner

from crawler.bench.sites.shape import Shape
from crawler.bench.sites.web_shape import WebShape
from crawler.cli.commands.bench.sites import site_options


def chosen(*words):
    found = []

    @click.command()
    @click.option("--quick", is_flag=True)
    @site_options
    def command(sites, quick):
        found.extend(sites)

    done = CliRunner().invoke(command, words)
    return found or done.output


def test_the_site_is_like_the_web_unless_another_is_asked_for():
    assert chosen() == [WebShape(5000)]
    assert chosen("--quick") == [WebShape(500)]
    assert chosen("--plain", "--pages", "9", "--links", "40") == [Shape(9, links=40)]
    assert chosen("--plain", "--pages", "9", "--hosts", "3") == [Shape(9, hosts=3, absolute=True)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--hosts", "2"], "--size, --links and --hosts need --plain"),
        (["--packages", "sqlite3-doc"], "--packages needs --docs"),
        (["--docs", "--packages", "perl-doc"], "unknown: perl-doc; known are python3-doc"),
        (["--plain", "--links", "30"], "links must be 31 or more"),
    ],
)
def test_an_option_of_another_site_is_refused(words, message):
    assert message in chosen(*words)
