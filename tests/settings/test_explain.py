"""The source of each value is explained."""

import dataclasses
import json
from pathlib import Path

import pytest

from crawler.frontier import Retries
from crawler.settings import SETTINGS, Settings


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

    rows = json.loads(json.dumps([entry.to_dict() for entry in settings.explain()]))

    values = {entry["name"]: entry["value"] for entry in rows}
    assert (values["ca_file"], values["domains"]) == (__file__, ["a.test"])


def test_what_was_changed_after_loading_came_from_code():
    loaded = Settings.load(spider={"depth": 2})

    [depth] = dataclasses.replace(loaded, depth=3).explain("depth")

    assert str(depth) == "depth = 3 (code), over 2 (spider), 0 (default)"


def test_only_the_named_settings_are_explained():
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
        "help": "The maximum depth: the number of links from a start URL. 0 fetches only the start URLs.",
    }
