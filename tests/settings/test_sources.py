"""Settings come from files, the environment and mappings."""

import re

import pytest

from crawler.frontier import Budget, Politeness
from crawler.settings import Settings, find_toml


@pytest.fixture
def toml(tmp_path):
    def write(text, name="crawler.toml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def refusal(**layers):
    with pytest.raises(ValueError) as caught:
        Settings.load(**layers)
    return str(caught.value)


def test_a_whole_value_sets_all_its_parts_but_those_given_by_name():
    settings = Settings.load(
        spider={"politeness.backoff": 7},
        code={"delay": 2, "politeness": Politeness.off(), "budget": Budget(pages=9)},
    )

    assert settings.politeness == Politeness.off(delay=2)
    assert settings.budget.pages == 9


def test_an_empty_variable_sets_nothing():
    assert Settings.load(environ={"CRAWLER_DELAY": " "}) == Settings()


def test_variables_of_other_programs_are_ignored():
    others = {
        "CRAWLER_SERVICE_HOST": "10.0.0.1",
        "CRAWLER_PORT": "tcp://10.0.0.1:80",
        "CRAWLER_PORT_80_TCP_ADDR": "10.0.0.1",
        "DELAY": "3",
        "crawler_delay": "3",
    }

    assert Settings.load(environ=others) == Settings()


def test_a_misspelt_variable_is_an_error():
    assert refusal(environ={"CRAWLER_CONCURENCY": "3"}) == (
        "unknown setting 'concurency': did you mean 'concurrency'? (from CRAWLER_CONCURENCY)"
    )


def test_crawler_toml_is_found_before_pyproject_toml(toml, tmp_path):
    assert find_toml(tmp_path) is None
    shared = toml("[tool.other]\nx = 1", "pyproject.toml")
    assert find_toml(tmp_path) is None
    shared.write_text("[tool.crawler]\ndelay = 2\n[tool.crawler.limits]\nconnect = 3")
    assert find_toml(tmp_path) == shared
    assert Settings.load(toml=shared).limits.connect == 3
    own = toml("delay = 1")
    assert find_toml(tmp_path) == own


def test_the_file_is_looked_up_in_the_working_directory(toml, tmp_path, monkeypatch):
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
def test_a_mistake_in_a_file_is_an_error_with_its_name(toml, name, content, complaint):
    path = toml(content, name)

    pattern = re.escape(complaint.format(path=path)).replace(r"\.\*", ".*")
    assert re.search(pattern, refusal(toml=path))


def test_a_binary_file_is_an_error_with_its_name(toml):
    path = toml("")
    path.write_bytes(b"\xff")

    assert refusal(toml=path).startswith(f"{path}: ")
