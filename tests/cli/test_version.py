"""The version and the help of the command line."""

import json
import re

from .conftest import crawler


def test_version_and_help(tmp_path):
    assert crawler("version", cwd=tmp_path).stdout.strip() == "0.1.0"
    assert json.loads(crawler("version", "--json", cwd=tmp_path).stdout) == {"version": "0.1.0"}
    help_ = crawler("--help", cwd=tmp_path).stdout
    for code in ("0", "1", "2", "3", "4", "5", "6", "130"):
        assert re.search(rf"^ +{code} +\w", help_, re.MULTILINE), code
    for command in ("crawl", "run", "fetch", "links", "shell", "demo", "settings", "components"):
        assert f"  {command} " in help_
