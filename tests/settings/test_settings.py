import dataclasses
import json
import re
import typing
from pathlib import Path

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.fetch import Limits
from crawler.frontier import Budget, Politeness, Retries
from crawler.module import Analyzer, Downloader, Pipeline
from crawler.scheduler import DataArgs, ModuleArgs, RequestArgs
from crawler.settings import SETTINGS, Settings, find, find_toml, reference_markdown
from crawler.testing import Site

MODULES = [Downloader(Site({}))], [Analyzer(lambda response: [])], [Pipeline()]
EVERYDAY = {
    *("concurrency", "per_host", "delay", "robots", "depth", "domains", "include", "exclude"),
    *("retries", "timeout", "max_pages", "max_bytes", "max_seconds", "max_errors", "bandwidth"),
    *("user_agent", "max_body"),
}


@pytest.fixture
def toml(tmp_path):
    def write(text, name="crawler.toml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def set_to(name, value):
    """What the setting becomes when it is given as *value*."""
    settings = Settings.load(overrides={name: value})
    return settings.explain(name)[0].value


def refusal(**layers):
    with pytest.raises(ValueError) as caught:
        Settings.load(**layers)
    return str(caught.value)


# Which settings there are


def leaves():
    for field in dataclasses.fields(Settings):
        if dataclasses.is_dataclass(part := getattr(Settings(), field.name)):
            hints = typing.get_type_hints(type(part))
            yield from ((f"{field.name}.{f.name}", hints[f.name]) for f in dataclasses.fields(part))
        elif field.name != "origins":
            yield field.name, typing.get_type_hints(Settings)[field.name]


def test_every_part_of_every_value_is_a_setting_with_a_sentence_of_help():
    assert sorted(setting.path for setting in SETTINGS) == sorted(path for path, _ in leaves())
    assert all(re.fullmatch(r"[A-Z].*[^.]\.", setting.help) for setting in SETTINGS)


@pytest.mark.parametrize(("path", "hint"), list(leaves()))
def test_a_setting_can_be_none_where_its_type_says_so(path, hint):
    assert find(path).kind.name.endswith(" or none") == (type(None) in typing.get_args(hint))


def test_the_everyday_names_are_short():
    assert {setting.name for setting in SETTINGS} >= EVERYDAY


def test_the_defaults_are_those_of_the_values():
    settings = Settings()

    assert settings == Settings.load()
    assert settings.request_args() == RequestArgs()
    assert settings.data_args() == DataArgs()
    assert settings.module_args(*MODULES) == ModuleArgs(*MODULES)
    assert settings.limits == Limits()


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_a_default_as_written_reads_as_itself(setting):
    [described] = [entry for entry in Settings.describe() if entry.name == setting.name]

    assert set_to(setting.name, described.default) == described.default
    assert set_to(setting.name, setting.kind.write(described.default)) == described.default


# Who counts more

LAYERS = ["toml", "spider", "code", "environ", "overrides"]
SOURCES = ["{toml}", "spider", "code", "CRAWLER_DELAY", "command line"]


@pytest.mark.parametrize("used", range(1, 1 << len(LAYERS)))
def test_of_those_who_give_a_value_the_last_counts_and_the_others_are_told(toml, used):
    path = toml("delay = 1")
    all_layers = {
        "toml": path,
        "spider": {"delay": 2},
        "code": {"delay": 3.0},
        "environ": {"CRAWLER_DELAY": "4"},
        "overrides": {"delay": "5"},
    }
    numbers = [number for number in range(len(LAYERS)) if used & 1 << number]

    settings = Settings.load(**{LAYERS[n]: all_layers[LAYERS[n]] for n in numbers})
    [delay] = settings.explain("delay")

    assert settings.politeness.delay == delay.value == numbers[-1] + 1
    told = [(delay.source, delay.value), *((o.source, o.value) for o in delay.overridden)]
    expected = [(SOURCES[n].format(toml=path), n + 1.0) for n in reversed(numbers)]
    assert told == [*expected, ("default", 0.1)]


def test_settings_of_different_names_come_together_from_everywhere(toml):
    settings = Settings.load(
        toml=toml("depth = 3\n[politeness]\nbackoff = 2\n[retries]\nwait = 4"),
        spider={"domains": ["a.test"], "retries": 5},
        code={"politeness": {"jitter": 0}},
        environ={"CRAWLER_POLITENESS__THROTTLE": "1m", "HOME": "/"},
        overrides={"limits.connect": "5", "timeout": "20"},
    )

    assert settings == Settings(
        depth=3,
        domains=["a.test"],
        politeness=Politeness(backoff=2, jitter=0, throttle=60),
        retries=Retries(attempts=5, wait=4),
        limits=Limits(connect=5, total=20),
    )


def test_a_short_name_and_its_path_are_one_setting():
    assert set_to("politeness.delay", 1) == set_to("delay", 1) == 1
    assert find("limits.total") is find("timeout")


def test_a_whole_value_sets_all_its_parts_but_those_given_by_name():
    settings = Settings.load(
        spider={"politeness.backoff": 7},
        code={"delay": 2, "politeness": Politeness.off(), "budget": Budget(pages=9)},
    )

    assert settings.politeness == Politeness.off(delay=2)
    assert settings.budget.pages == 9


def test_an_empty_variable_sets_nothing():
    assert Settings.load(environ={"CRAWLER_DELAY": " "}) == Settings()


def test_the_variables_of_other_programs_are_none_of_ours():
    others = {
        "CRAWLER_SERVICE_HOST": "10.0.0.1",
        "CRAWLER_PORT": "tcp://10.0.0.1:80",
        "CRAWLER_PORT_80_TCP_ADDR": "10.0.0.1",
        "DELAY": "3",
        "crawler_delay": "3",
    }

    assert Settings.load(environ=others) == Settings()


def test_a_variable_that_is_nearly_a_setting_is_a_slip():
    assert refusal(environ={"CRAWLER_CONCURENCY": "3"}) == (
        "unknown setting 'concurency': did you mean 'concurrency'? (from CRAWLER_CONCURENCY)"
    )


# Files


def test_crawler_toml_is_found_before_pyproject_toml(toml, tmp_path):
    assert find_toml(tmp_path) is None
    shared = toml("[tool.other]\nx = 1", "pyproject.toml")
    assert find_toml(tmp_path) is None
    shared.write_text("[tool.crawler]\ndelay = 2\n[tool.crawler.limits]\nconnect = 3")
    assert find_toml(tmp_path) == shared
    assert Settings.load(toml=shared).limits.connect == 3
    own = toml("delay = 1")
    assert find_toml(tmp_path) == own


def test_the_file_is_sought_in_the_working_directory(toml, tmp_path, monkeypatch):
    toml("delay = 1")
    monkeypatch.chdir(tmp_path)

    [delay] = Settings.load(toml=find_toml()).explain("delay")

    assert str(delay) == "delay = 1 (crawler.toml), over 0.1 (default)"


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("crawler.toml", "delay =", "{path}: Invalid value"),
        ("crawler.toml", "delay = 'fast'", "delay: expected seconds .* (from {path})"),
        ("crawler.toml", "[politness]\nbackoff = 1", "did you mean 'politeness.backoff'? "),
        ("crawler.toml", "[delay]\nx = 1", "unknown setting 'delay.x'"),
        ("pyproject.toml", "[tool]\ncrawler = 1", "{path}: crawler must be a table, not 1"),
        ("pyproject.toml", "tool = 1", "{path}: tool must be a table, not 1"),
    ],
)
def test_a_mistake_in_a_file_is_told_with_its_name(toml, name, content, complaint):
    path = toml(content, name)

    pattern = re.escape(complaint.format(path=path)).replace(r"\.\*", ".*")
    assert re.search(pattern, refusal(toml=path))


def test_a_file_that_is_not_text_is_told_by_its_name(toml):
    path = toml("")
    path.write_bytes(b"\xff")

    assert refusal(toml=path).startswith(f"{path}: ")


# Values


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
def test_a_wrong_value_is_told_with_what_was_expected_and_who_gave_it(name, given, complaint):
    told = refusal(code={name: given})

    assert told.startswith(f"{name}: {complaint}")
    assert told.endswith(" (from code)")


def test_a_value_made_without_loading_checks_itself_too():
    with pytest.raises(ValueError, match="concurrency: expected a whole number, 1 or more, not 0"):
        Settings(concurrency=0)
    with pytest.raises(ValueError, match="'a/b' is not a host"):
        Settings(allow_addresses=["a/b"])
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().depth = 3


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("concurency", "concurrency"),
        ("Delay", "delay"),
        ("per-host", "per_host"),
        ("maxpages", "max_pages"),
        ("politeness.backof", "politeness.backoff"),
        ("backoff", "politeness.backoff"),
        ("attempts", "retries"),
        ("politness.delay", "delay"),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest_there_is(name, meant):
    assert refusal(overrides={name: "1"}) == (
        f"unknown setting {name!r}: did you mean {meant!r}? (from command line)"
    )


def test_a_name_like_no_other_is_told_without_a_guess():
    assert refusal(overrides={"zzz": "1"}) == "unknown setting 'zzz' (from command line)"


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
@hypothesis.settings(max_examples=500, deadline=None)
@given(st.sampled_from(SETTINGS), st.text() | st.from_regex(r"[0-9.,e -]{1,5}[a-zA-Z]{0,3}"))
def test_any_text_is_a_value_or_an_error_that_names_the_setting(setting, text):
    try:
        settings = Settings.load(overrides={setting.name: text})
    except ValueError as error:
        told = str(error)
    else:
        settings.request_args().frontier()
        settings.module_args(*MODULES)
        settings.fetch()
        return

    assert told.startswith(f"{setting.name}: ")
    assert told.endswith(" (from command line)")


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


# What becomes of them


def test_the_scheduler_gets_what_was_set():
    settings = Settings.load(
        code={
            "concurrency": 3,
            "analyze_workers": 4,
            "pipeline_workers": 5,
            "time_limit": 6,
            "depth": 7,
            "domains": ["a.test"],
            "include": ["/a"],
            "exclude": ["/b"],
            "max_pages_per_host": 8,
            "delay": 9,
            "retries": 10,
            "max_pages": 11,
            "pools.item_buffer_cap": 12,
        }
    )

    modules = settings.module_args(*MODULES)
    workers = modules.download_workers, modules.analyze_workers, modules.pipeline_workers
    assert (*workers, modules.time_limit) == (3, 4, 5, 6.0)
    assert settings.request_args() == RequestArgs(
        accepted_domains=["a.test"],
        max_depth=7,
        include=("/a",),
        exclude=("/b",),
        max_pages_per_host=8,
        politeness=Politeness(delay=9),
        retries=Retries(attempts=10),
        budget=Budget(pages=11),
    )
    assert settings.data_args() == DataArgs(item_buffer_cap=12)


def test_the_client_gets_what_was_set(tmp_path):
    authorities = tmp_path / "ca.pem"
    authorities.touch()
    settings = Settings.load(
        code={"timeout": 5, "user_agent": "Bot/1", "verify": False, "ca_file": authorities}
    )

    fetch = settings.fetch()

    assert fetch.limits == Limits(total=5)
    assert (fetch._user_agent, fetch._verify, fetch._ca_file) == ("Bot/1", False, authorities)


def test_the_client_has_a_connection_for_each_request_at_a_time():
    assert Settings().fetch()._max_connections == 512
    assert Settings(concurrency=2000).fetch()._max_connections == 2000


def test_private_addresses_are_guarded_unless_they_are_allowed():
    from crawler import Request

    def allows(**settings):
        found = Request("http://inner.test/", depth=1)
        return Settings(**settings).fetch()._allow_address("10.0.0.1", 80, found)

    assert not allows()
    assert not allows(allow_addresses=["192.168.0.0/16"])
    assert allows(allow_addresses=["10.0.0.0/8"])
    assert allows(allow_private=True)


# What is told about them


def test_settings_are_equal_by_value_wherever_it_came_from():
    by_code, by_hand = Settings.load(code={"depth": 2}), Settings(depth=2)

    assert by_code == by_hand == Settings.load(environ={"CRAWLER_DEPTH": "2"}) != Settings()
    assert hash(by_code) == hash(by_hand)


def test_only_what_differs_from_the_defaults_is_shown():
    assert repr(Settings()) == "<Settings as by default>"
    assert repr(Settings.load(code={"delay": 0.1})) == "<Settings as by default>"
    assert repr(
        Settings.load(
            code={"robots": False, "politeness.backoff": 2, "domains": ["a.test", "b.test"]}
        )
    ) == ("<Settings domains=a.test,b.test robots=no politeness.backoff=2>")


def test_each_setting_is_explained_as_text_and_as_json():
    settings = Settings.load(spider={"retries.statuses": [503, 500]}, overrides={"max_body": "1MB"})

    explained = {entry.name: entry for entry in settings.explain()}

    assert list(explained) == [setting.name for setting in SETTINGS]
    assert str(explained["max_body"]) == "max_body = 1000000 (command line), over 10MiB (default)"
    assert str(explained["depth"]) == "depth = 0 (default)"
    assert json.loads(json.dumps(explained["retries.statuses"].to_dict())) == {
        "name": "retries.statuses",
        "type": "set of status codes",
        "value": [500, 503],
        "source": "spider",
        "overridden": [{"value": sorted(Retries().statuses), "source": "default"}],
    }


def test_every_explanation_is_json_whatever_was_set():
    settings = Settings(ca_file=Path(__file__), domains=["a.test"])

    told = json.loads(json.dumps([entry.to_dict() for entry in settings.explain()]))

    values = {entry["name"]: entry["value"] for entry in told}
    assert (values["ca_file"], values["domains"]) == (__file__, ["a.test"])


def test_what_was_changed_after_loading_came_from_code():
    loaded = Settings.load(spider={"depth": 2})

    [depth] = dataclasses.replace(loaded, depth=3).explain("depth")

    assert str(depth) == "depth = 3 (code), over 2 (spider), 0 (default)"


def test_only_what_is_asked_for_is_explained():
    assert [entry.name for entry in Settings().explain("limits.total", "depth")] == [
        "timeout",
        "depth",
    ]
    with pytest.raises(ValueError, match="did you mean 'depth'"):
        Settings().explain("dept")


def test_descriptions_are_json():
    described = [entry.to_dict() for entry in Settings.describe()]

    assert json.loads(json.dumps(described))[0] == {
        "name": "depth",
        "type": "whole number or none",
        "default": 0,
        "help": "How many links away from a first page to go; 0 is the first pages only.",
    }


def test_the_reference_has_every_setting_and_its_defaults_read_as_they_are():
    row = re.compile(r"^\| `(.+?)` \| .+? \| `(.+?)` \| .+? \|$", re.MULTILINE)
    rows = row.findall(reference_markdown())

    assert [name for name, _ in rows] == [setting.name for setting in SETTINGS]
    assert Settings.load(code=dict(rows)) == Settings()
