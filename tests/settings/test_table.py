"""Every setting has a name, a type and a help."""

import dataclasses
import re
import typing

import pytest

from crawler.settings import SETTINGS, Settings, find

EVERYDAY = {
    *("concurrency", "per_host", "delay", "robots", "depth", "domains", "include", "exclude"),
    *("retries", "timeout", "max_pages", "max_bytes", "max_seconds", "max_errors", "bandwidth"),
    *("user_agent", "max_body"),
}


def refusal(**layers):
    with pytest.raises(ValueError) as caught:
        Settings.load(**layers)
    return str(caught.value)


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
def test_an_unknown_name_is_an_error_that_suggests_the_nearest(name, meant):
    assert refusal(overrides={name: "1"}) == (
        f"unknown setting {name!r}: did you mean {meant!r}? (from command line)"
    )


def test_a_name_unlike_any_other_is_an_error_without_a_suggestion():
    assert refusal(overrides={"zzz": "1"}) == (
        "unknown setting 'zzz': `crawler settings` lists all (from command line)"
    )
