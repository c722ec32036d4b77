"""Contenders crawl the same site."""

import json
from pathlib import Path

import pytest

from crawler.bench import crawl
from crawler.bench.measuring import history
from crawler.bench.measuring.child import BenchError
from crawler.bench.measuring.report import Report
from crawler.bench.parts import fetch
from crawler.bench.sites.shape import Shape
from crawler.cli.commands.bench.options import print_and_save

OPTIONS = ["--pages", "30", "--repeats", "1", "--concurrency", "4"]
OWN_CONTENDERS = (crawl.BARE, crawl.OURS, crawl.RECORDS, crawl.DURABLE)
#: It claims to have fetched every page, and fetched one.
CHEAT = "cheating:crawl_one_page"


def test_a_crawl_of_several_hosts_has_one_sample_per_repeat_and_shows_whether_targets_hold(bench):
    words = [*OPTIONS, "--repeats", "2", "--hosts", "7"]
    report = json.loads(bench("crawl", *words, "--json").stdout)

    setting = report["setting"]
    assert (setting["pages"], setting["hosts"], setting["per_host"]) == (30, 7, 2)
    assert crawl.OURS.name in report["rows"]
    assert {len(samples["cpu_us"]) for samples in report["rows"].values()} == {2}
    limit, durable = report["targets"]
    assert (limit["bound"], durable["bound"]) == (1.6, 0.8)
    assert limit["holds"] == (limit["value"] <= 1.6)
    assert durable["holds"] == (durable["value"] >= 0.8)


def test_a_contender_that_fails_is_named_and_the_others_are_shown(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    cheat = crawl.Contender("cheat", CHEAT)

    report = crawl.run(Shape(5), concurrency=1, repeats=1, others=[cheat])

    assert list(report.rows) == [one.name for one in OWN_CONTENDERS]
    assert len(report.targets) == 2
    with pytest.raises(BenchError, match=r"^cheat: not comparable"):
        print_and_save(report, crawl.show(report), history=tmp_path / "kept", as_json=False)
    assert crawl.DURABLE.name in capsys.readouterr().out
    assert history.trends(tmp_path / "kept")


def test_without_the_bare_loop_there_are_rows_without_ratios(monkeypatch):
    monkeypatch.setattr(crawl, "BARE", crawl.Contender(crawl.BARE.name, "nowhere:crawl"))
    monkeypatch.setattr(fetch, "ROWS", {name: fetch.ROWS[name] for name in ("CurlFetch",)})
    monkeypatch.setattr(fetch, "find_spec", bool)

    crawled = crawl.run(Shape(5), concurrency=1, repeats=1)
    fetched = fetch.run(5, 1)

    assert [failure.partition(":")[0] for failure in crawled.failures] == ["bare loop"]
    assert [target.bound for target in crawled.targets] == [0.8]
    assert fetched.targets == []
    assert "×" in crawl.show(crawled)
    assert "CurlFetch" in fetch.show(fetched)


def test_a_missing_framework_is_an_error_that_names_the_extra(monkeypatch):
    monkeypatch.setattr(crawl, "find_spec", lambda _: None)

    with pytest.raises(ValueError, match=r"scrapy is not installed: pip install -e '.*\[bench\]'"):
        crawl.peers(["scrapy"])


def test_a_peer_that_is_named_twice_is_measured_once(monkeypatch):
    monkeypatch.setattr(crawl, "find_spec", bool)

    assert crawl.peers(["crawlee", "scrapy", "crawlee"]) == [
        crawl.CRAWLEE,
        crawl.TUNED_CRAWLEE,
        crawl.SCRAPY,
    ]


@pytest.mark.parametrize("peer", crawl.PEERS)
def test_other_frameworks_crawl_the_whole_site(bench, peer):
    pytest.importorskip(peer)

    report = json.loads(bench("crawl", *OPTIONS, "--peers", peer, "--json").stdout)

    assert list(report["rows"]) == [one.name for one in (*OWN_CONTENDERS, *crawl.PEERS[peer])]
    assert len(report["targets"]) == 3


def crawled(**cpu):
    samples = {"pages_per_second": [1.0, 1.0], "rss_mb": [50.0, 60.0]}
    return {name: {"cpu_us": [us, us * 2], **samples} for name, us in cpu.items()}


def test_a_crawl_has_only_the_targets_of_its_rows():
    contenders = {
        "bare": crawl.BARE,
        "ours": crawl.OURS,
        "durable": crawl.DURABLE,
        "scrapy": crawl.SCRAPY,
        "crawlee": crawl.CRAWLEE,
        "lean": crawl.TUNED_CRAWLEE,
    }
    rows = crawled(bare=100.0, ours=150.0, durable=200.0, scrapy=900.0, crawlee=2400.0, lean=300.0)

    def targets(*names):
        found = crawl._targets({contenders[name].name: rows[name] for name in names})
        return [(round(target.value, 2), target.bound, target.holds) for target in found]

    ours, durable, scrapy, crawlee = (
        (1.5, 1.6, True),
        (0.75, 0.8, False),
        (6.0, 8.0, False),
        (16.0, 15.0, True),
    )
    assert targets(*contenders) == [ours, durable, scrapy, crawlee]
    assert targets("bare", "ours", "lean") == [ours]
    assert targets("bare", "scrapy") == []


def test_a_table_of_crawls_has_a_ratio_for_every_row():
    setting = {"pages": 9, "size": 9, "links": 31, "hosts": 1, "concurrency": 1, "server": "nginx"}
    rows = {crawl.BARE.name: 100.0, crawl.CRAWLEE.name: 2400.0, crawl.TUNED_CRAWLEE.name: 300.0}

    lines = crawl.show(Report("crawl", setting, crawled(**rows))).splitlines()

    assert lines[3].split()[:4] == ["Crawlee,", "as", "documented", "24.00"]
    assert lines[4].split()[:3] == ["Crawlee,", "tuned", "3.00"]
