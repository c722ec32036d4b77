"""Typical spiders written for Scrapy, and what they become here: both find the same items."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from crawler import crawl
from crawler.cli.spider_file import load_spider
from crawler.feed import as_record
from crawler.testing import LoopbackSite

from .site import pages

HERE = Path(__file__).parent
NAMES = sorted(path.stem for path in (HERE / "ports").glob("*.py"))
#: Both crawlers ask this proxy for all hosts. The site is one process, which needs no delays.
FREE = {"delay": 0, "politeness.latency_factor": 0}

#: What replaces the imports of an original.
IMPORTS = {
    "import scrapy": "import crawler as scrapy",
    "from scrapy.http import": "from crawler import",
    "from scrapy.linkextractors import": "from crawler import",
    "from scrapy.spiders import": "from crawler.spider import",
}


@pytest.fixture(scope="module")
def web():
    with LoopbackSite(pages()) as site:
        yield site


def in_order(records):
    return sorted(json.dumps(record, sort_keys=True) for record in records)


def records_of(path):
    return in_order(map(json.loads, path.read_text(encoding="utf-8").splitlines()))


def expected(name):
    return records_of(HERE / "items" / f"{name}.jsonl")


@pytest.mark.parametrize("name", NAMES)
def test_a_port_finds_what_is_expected(name, web, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    spider = load_spider(str(HERE / "ports" / f"{name}.py"))

    found = crawl(spider, proxy=web.url(), **FREE).items

    assert in_order(map(as_record, found)) == expected(name)


@pytest.mark.parametrize(
    "name", ["tutorial", "login", "api", "pagination", "rules", "sitemap", "start"]
)
def test_an_original_finds_the_same_with_its_imports_changed(name, web, tmp_path):
    source = (HERE / "originals" / f"{name}.py").read_text(encoding="utf-8")
    for theirs, ours in IMPORTS.items():
        source = source.replace(theirs, ours)
    ported = tmp_path / f"{name}.py"
    ported.write_text(source)

    found = crawl(load_spider(str(ported)), proxy=web.url(), **FREE).items

    assert in_order(map(as_record, found)) == expected(name)


@pytest.mark.skipif(find_spec("scrapy") is None, reason="needs Scrapy: pip install -e '.[bench]'")
def test_the_originals_find_the_same_with_scrapy(web, tmp_path):
    done = subprocess.run(
        [sys.executable, HERE / "run_originals.py", HERE / "originals", tmp_path],
        env=os.environ | {"http_proxy": web.url()},
        capture_output=True,
        text=True,
        timeout=240,
        cwd=tmp_path,
    )

    assert done.returncode == 0, done.stderr
    found = {path.stem: records_of(path) for path in tmp_path.glob("*.jsonl")}
    assert found == {name: expected(name) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_port_is_short(name):
    assert len((HERE / "ports" / f"{name}.py").read_text().splitlines()) <= 50


def test_each_original_has_a_port_and_expected_items():
    assert {path.stem for path in (HERE / "originals").glob("*.py")} == set(NAMES)
    assert {path.stem for path in (HERE / "items").glob("*.jsonl")} == set(NAMES)


def test_a_port_runs_as_its_docstring_says(web, tmp_path):
    command = [
        sys.executable,
        "-m",
        "crawler",
        "run",
        HERE / "ports" / "start.py",
        "-a",
        "tags=humor",
    ]

    done = subprocess.run(
        [*command, "-O", "items.jsonl", "-s", f"proxy={web.url()}", "-s", "delay=0"],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
    )

    assert done.returncode == 0, done.stderr
    found = map(json.loads, (tmp_path / "items.jsonl").read_text().splitlines())
    assert {item.get("tag") for item in found} == {"humor", None}
