from types import SimpleNamespace

import pytest

from crawler.portal.host_delay import HostDelay
from crawler.portal.rendering import render

from .conftest import HOSTILE, OVERRIDE


@pytest.mark.parametrize(
    ("typed", "host"),
    [
        ("example.org", "example.org"),
        (" Example.ORG. ", "example.org"),
        ("example.org:8080", "example.org"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("127.0.0.1", "127.0.0.1"),
        ("::1", "::1"),
        ("[::1]:80", "::1"),
    ],
)
def test_a_host_is_named_as_crawls_name_it(typed, host):
    assert HostDelay.of(typed, "0.5") == HostDelay(host, 0.5)


WRONG = ["", " ", "a b", "a/b", "http://a.test", "x@y", "<img>", "'&", "a\u202eb", "a%2fb", "*"]


@pytest.mark.parametrize(
    "typed", [*WRONG, HOSTILE, "a?b", "a#b", "a\\b", "a" * 254, "\x00", "[::1", "::x"]
)
def test_what_is_not_a_host_is_refused(typed):
    with pytest.raises(ValueError, match="host"):
        HostDelay.of(typed, 1)


@pytest.mark.parametrize(
    "seconds", ["", "soon", "-1", "nan", "inf", "1e9", -0.1, float("nan"), 86401]
)
def test_a_delay_is_a_number_of_seconds(seconds):
    with pytest.raises(ValueError, match="0 to 86400 seconds"):
        HostDelay.of("a.test", seconds)


def test_a_delay_may_be_nothing_and_a_day():
    assert [HostDelay.of("a.test", seconds).seconds for seconds in ("0", 86400)] == [0.0, 86400.0]


def test_the_hosts_that_are_offered_are_text():
    run = SimpleNamespace(hosts=[SimpleNamespace(host=f'">{HOSTILE}{OVERRIDE}')])

    text = render("delay_form.html", run=run, csrf="")

    assert "&#34;&gt;&lt;script&gt;" in text
    assert "<img" not in text
    assert OVERRIDE not in text
