"""A value is parsed, checked and written by the type of its setting."""

import re

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.module import Analyzer, Downloader, Pipeline
from crawler.settings import SETTINGS, Settings
from crawler.testing import Site

MODULES = [Downloader(Site({}))], [Analyzer(lambda response: [])], [Pipeline()]


def set_to(name, value):
    """What the setting becomes when it is given as *value*."""
    settings = Settings.load(overrides={name: value})
    return settings.explain(name)[0].value


def refusal(**layers):
    with pytest.raises(ValueError) as caught:
        Settings.load(**layers)
    return str(caught.value)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_a_default_as_written_reads_as_itself(setting):
    [described] = [entry for entry in Settings.describe() if entry.name == setting.name]

    assert set_to(setting.name, described.default) == described.default
    assert set_to(setting.name, setting.kind.write(described.default)) == described.default


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("concurrency", " 128 ", 128),
        ("concurrency", "1e3", 1000),
        ("concurrency", 8.0, 8),
        ("depth", "none", None),
        ("depth", "NONE", None),
        ("depth", "0", 0),
        ("depth", None, None),
        ("delay", "0", 0.0),
        ("delay", ".5", 0.5),
        ("delay", 2, 2.0),
        ("delay", "500ms", 0.5),
        ("delay", "2 s", 2.0),
        ("delay", "2m", 120.0),
        ("delay", "1.5H", 5400.0),
        ("max_seconds", "1d", 86400.0),
        ("max_bytes", "10MB", 10_000_000),
        ("max_bytes", "1.1 mb", 1_100_000),
        ("max_bytes", "1GiB", 2**30),
        ("max_bytes", "9223372036854775807", 2**63 - 1),
        ("max_body", "512b", 512),
        ("bandwidth", "1.5kB", 1500.0),
        ("budget.min_rate", "0.5", 0.5),
        ("robots", "Yes", True),
        ("robots", "true", True),
        ("robots", "ON", True),
        ("robots", "1", True),
        ("robots", "no", False),
        ("robots", "false", False),
        ("robots", "off", False),
        ("robots", "0", False),
        ("robots", False, False),
        ("politeness.share", "domain", "domain"),
        ("user_agent", "Bot/1 (+https://a.test)", "Bot/1 (+https://a.test)"),
        ("user_agent", "none", None),
        ("domains", "a.test,b.test", ("a.test", "b.test")),
        ("domains", "a.test, b.test ,", ("a.test", "b.test")),
        ("domains", "a.test b.test", ("a.test", "b.test")),
        ("domains", ["a.test"], ("a.test",)),
        ("domains", "none", ()),
        ("domains", "", ()),
        ("include", r"/p/[0-9]{1,3},/q(a,b)?", (r"/p/[0-9]{1,3}", "/q(a,b)?")),
        ("include", ["a,b"], ("a,b",)),
        ("retries.statuses", "500, 503", frozenset({500, 503})),
        ("retries.statuses", [429], frozenset({429})),
        ("retries.kinds", "dns", frozenset({"dns"})),
        ("allow_addresses", "10.0.0.0/8,printer", ("10.0.0.0/8", "printer")),
    ],
)
def test_a_value_is_read_by_what_the_setting_may_be(name, text, value):
    assert set_to(name, text) == value
    assert type(set_to(name, text)) is type(value)


def test_a_file_must_be_there(tmp_path):
    path = tmp_path / "ca.pem"
    assert refusal(code={"ca_file": path}).startswith(
        "ca_file: expected the path of a file, or none, not "
    )
    path.touch()

    assert set_to("ca_file", str(path)) == set_to("ca_file", path) == path


SECONDS = "seconds (a number, or such as 500ms, 2m, 1h)"


@pytest.mark.parametrize(
    ("name", "given", "complaint"),
    [
        ("delay", "fast", f"expected {SECONDS}, not 'fast'"),
        ("delay", "", f"expected {SECONDS}, not ''"),
        ("delay", "2x", f"expected {SECONDS}, not '2x'"),
        ("delay", "none", f"expected {SECONDS}, not 'none'"),
        ("delay", "nan", f"expected {SECONDS}, not 'nan'"),
        ("delay", "-1", f"expected {SECONDS}, 0 or more, not '-1'"),
        ("delay", float("nan"), f"expected {SECONDS}, 0 or more, not nan"),
        ("delay", float("inf"), f"expected {SECONDS}, 2147483647 at most, not inf"),
        ("delay", 10**400, f"expected {SECONDS}, 2147483647 at most"),
        ("delay", True, f"expected {SECONDS}, not True"),
        ("delay", [1], f"expected {SECONDS}, not [1]"),
        ("timeout", "0", f"expected {SECONDS}, 0.001 or more, not '0'"),
        ("time_limit", 0, f"expected {SECONDS}, 0.001 or more, not 0"),
        ("max_seconds", "soon", f"expected {SECONDS}, or none, not 'soon'"),
        ("concurrency", "many", "expected a whole number, not 'many'"),
        ("concurrency", "1.5", "expected a whole number, not '1.5'"),
        ("concurrency", "0", "expected a whole number, 1 or more, not '0'"),
        ("concurrency", None, "expected a whole number, not None"),
        ("concurrency", "9" * 5000, "expected a whole number, not '999"),
        ("depth", "-1", "expected a whole number, 0 or more, or none, not '-1'"),
        ("retries", "0", "expected a whole number, 1 or more, not '0'"),
        ("pools.req_buffer_cap", 0, "expected a whole number, 1 or more, not 0"),
        (
            "max_body",
            "10 apples",
            "expected bytes (a number, or such as 500kB, 10MB, 1GiB), not '10 apples'",
        ),
        ("robots", "maybe", "expected yes or no (or true, false, on, off, 1, 0), not 'maybe'"),
        ("robots", 1, "expected yes or no (or true, false, on, off, 1, 0), not 1"),
        ("politeness.share", "all", "expected host, domain or ip, not 'all'"),
        ("user_agent", "a\r\nCookie: b", "expected one line of ASCII text, or none, not 'a\\r\\n"),
        ("user_agent", "Bot/é", "expected one line of ASCII text, or none, not 'Bot/é'"),
        ("domains", 7, "expected a list, not 7"),
        ("domains", [7], "expected text, not [7]"),
        ("domains", "http://a.test/", "accepted domain 'http://a.test/' is a URL: give the host"),
        ("include", "(", "pattern '(' is not a regular expression: missing )"),
        ("retries.statuses", "99", "expected a status code, 100 or more, not '99'"),
        ("allow_addresses", "a/b", "'a/b' is not a host, an address or a network"),
        ("budget.min_rate", 0, "must be more than 0, or None, not 0.0"),
    ],
)
def test_a_wrong_value_is_an_error_with_what_was_expected_and_the_source(name, given, complaint):
    message = refusal(code={name: given})

    assert message.startswith(f"{name}: {complaint}")
    assert message.endswith(" (from code)")


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
@hypothesis.settings(max_examples=100, deadline=None)
@given(st.sampled_from(SETTINGS), st.text() | st.from_regex(r"[0-9.,e -]{1,5}[a-zA-Z]{0,3}"))
def test_any_text_is_a_value_or_an_error_that_names_the_setting(setting, text):
    try:
        settings = Settings.load(overrides={setting.name: text})
    except ValueError as error:
        message = str(error)
    else:
        settings.request_args().frontier()
        settings.module_args(*MODULES)
        settings.fetch()
        return

    assert message.startswith(f"{setting.name}: ")
    assert message.endswith(" (from command line)")


NUMBERS = [s for s in SETTINGS if re.search("number|seconds|bytes", s.kind.name)]


@hypothesis.settings(deadline=None)
@given(st.sampled_from(NUMBERS), st.integers(1, 2**31 - 1) | st.floats(1, 1e9))
def test_a_number_as_written_reads_as_itself(setting, number):
    try:
        value = setting.kind.value(number)
    except ValueError:
        assert number % 1 != 0
    else:
        assert setting.kind.value(setting.kind.write(value)) == value
