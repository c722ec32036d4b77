"""Where the CPU time goes."""

import json
from pathlib import Path

import pytest

from crawler.bench import profile
from crawler.bench.measuring.child import BenchError
from crawler.bench.sites.shape import Shape

OPTIONS = ["--plain", "--pages", "100", "--hosts", "3", "--concurrency", "4"]
CHEAT = "cheating:crawl_one_page"


def test_the_stages_and_the_functions_of_a_profile_have_the_same_total(bench):
    report = json.loads(bench("profile", *OPTIONS, "--json").stdout)

    by_stage, by_function = (
        sum(samples[measure][0] for samples in report["rows"].values() if measure in samples)
        for measure in ("cpu_us", "own_us")
    )
    assert by_stage == pytest.approx(by_function)
    assert any(name.startswith("stage ") for name in report["rows"])


def test_the_cost_is_shared_by_the_number_of_samples(monkeypatch):
    stages, functions = {"rest": 1, "parse and links": 3}, {"a:b:1": 2, "c:d:2": 2}
    measured = {"cpu": 0.008, "pages": 4, "stages": stages, "functions": functions}
    monkeypatch.setattr(profile, "crawled", lambda *_: measured)

    report = profile.run(Shape(4), concurrency=1)

    assert report.rows == {
        "stage parse and links": {"cpu_us": [1500.0]},
        "stage rest": {"cpu_us": [500.0]},
        "a:b:1": {"own_us": [1000.0]},
        "c:d:2": {"own_us": [1000.0]},
    }
    assert "2000 µs of CPU per page" in profile.show(report, 1)


def test_an_incomplete_crawl_has_no_profile(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    monkeypatch.setattr(profile, "_TARGET", CHEAT)

    with pytest.raises(
        BenchError,
        match=r"not comparable: our crawl should fetch 5 pages once; .* 1 pages in 1 requests",
    ):
        profile.run(Shape(5), concurrency=1)
