import dataclasses

import pytest

from crawler.fetch import Limits
from crawler.frontier import Budget, Politeness, Retries
from crawler.module import Analyzer, Downloader, Pipeline
from crawler.scheduler import DataArgs, ModuleArgs, RequestArgs
from crawler.settings import Settings, find
from crawler.testing import Site

MODULES = [Downloader(Site({}))], [Analyzer(lambda response: [])], [Pipeline()]


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


def test_the_defaults_are_those_of_the_values():
    settings = Settings()

    assert settings == Settings.load()
    assert settings.request_args() == RequestArgs()
    assert settings.data_args() == DataArgs()
    assert settings.module_args(*MODULES) == ModuleArgs(*MODULES)
    assert settings.limits == Limits()


LAYERS = ["toml", "spider", "code", "environ", "overrides"]
SOURCES = ["{toml}", "spider", "code", "CRAWLER_DELAY", "command line"]


@pytest.mark.parametrize("used", range(1, 1 << len(LAYERS)))
def test_the_last_source_of_a_value_counts_and_the_others_are_listed(toml, used):
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
    sources = [(delay.source, delay.value), *((o.source, o.value) for o in delay.overridden)]
    expected = [(SOURCES[n].format(toml=path), n + 1.0) for n in reversed(numbers)]
    assert sources == [*expected, ("default", 0.1)]


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


def test_a_value_made_without_loading_checks_itself_too():
    with pytest.raises(ValueError, match="concurrency: expected a whole number, 1 or more, not 0"):
        Settings(concurrency=0)
    with pytest.raises(ValueError, match="'a/b' is not a host"):
        Settings(allow_addresses=["a/b"])
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().depth = 3


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


def test_a_crawl_of_any_domain_has_a_cap_for_each_host():
    assert Settings.load(code={"domains": ["*"]}).request_args().max_pages_per_host == 1000
    for cap in (50, None):
        given = {"domains": ["*"], "max_pages_per_host": cap}
        assert Settings.load(code=given).request_args().max_pages_per_host == cap
    assert Settings().request_args().max_pages_per_host is None


def test_the_client_gets_what_was_set(tmp_path):
    authorities = tmp_path / "ca.pem"
    authorities.touch()
    settings = Settings.load(
        code={"timeout": 5, "user_agent": "Bot/1", "verify": False, "ca_file": authorities}
    )

    fetch = settings.fetch()

    assert fetch.limits == Limits(total=5)
    assert (fetch._user_agent, fetch._verify, fetch._ca_file) == ("Bot/1", False, authorities)


def test_the_client_has_a_connection_per_request_in_flight():
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
