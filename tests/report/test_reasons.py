"""Each reason for an outcome is explained, with the settings that change it."""

import pytest

from crawler.report.reasons import REASONS, explain
from crawler.settings import SETTINGS

NAMES = {setting.name for setting in SETTINGS} | {setting.path for setting in SETTINGS}


@pytest.mark.parametrize("reason", REASONS)
def test_every_setting_that_a_reason_names_exists(reason):
    assert set(REASONS[reason].settings) <= NAMES


def test_an_explanation_names_its_settings():
    assert explain("robots") == "the robots.txt of its host disallows it (setting: robots)"
    assert "(settings: allow_private, allow_addresses)" in explain("blocked_address")


def test_a_limit_of_the_crawl_can_be_continued():
    assert explain("page_limit").endswith(
        "(setting: max_pages); set a higher limit, and run the same command to continue"
    )
    assert explain("time_limit").endswith(
        "(setting: max_seconds); run the same command to continue"
    )
    assert "continue" not in explain("dns")


def test_a_status_is_a_reason():
    assert explain("http_404") == "the server answered with status 404"


@pytest.mark.parametrize("reason", ["", "http_", "http_x", "mine"])
def test_a_reason_of_a_user_has_no_explanation(reason):
    assert explain(reason) == ""
