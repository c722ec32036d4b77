"""The settings in force, and their sources."""

import json

from crawler.spider import PageSpider

from ..conftest import crawler


def test_settings_are_explained(tmp_path):
    (tmp_path / "crawler.toml").write_text("delay = 2\n")

    one = crawler("settings", "delay", "--explain", "-s", "delay=3", cwd=tmp_path)
    everything = crawler("settings", "--json", cwd=tmp_path)
    unknown = crawler("settings", "dealy", cwd=tmp_path)

    assert one.stdout.startswith("delay = 3 (command line), over 2 (crawler.toml)")
    assert {"delay", "concurrency"} <= {row["name"] for row in json.loads(everything.stdout)}
    assert unknown.returncode == 2
    assert "did you mean 'delay'" in unknown.stderr
    help_text = " ".join(crawler("settings", "--help", cwd=tmp_path).stdout.split())
    assert f"`crawler crawl` sets depth to {PageSpider.max_depth}." in help_text
