"""The documentation page of the settings."""

import re

from crawler.settings import SETTINGS, Settings, reference_markdown


def test_the_reference_has_every_setting_and_its_defaults_read_as_they_are():
    row = re.compile(r"^\| `(.+?)` \| .+? \| `(.+?)` \| .+? \|$", re.MULTILINE)
    rows = row.findall(reference_markdown())

    assert [name for name, _ in rows] == [setting.name for setting in SETTINGS]
    assert Settings.load(code=dict(rows)) == Settings()
