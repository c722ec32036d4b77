"""Contenders crawl the same site."""

from pathlib import Path

import pytest

from crawler.bench import crawl
from crawler.bench.measuring import history
from crawler.bench.measuring.child import BenchError
from crawler.bench.measuring.report import Report
from crawler.bench.parts import fetch
from crawler.bench.sites import nginx
from crawler.bench.sites.docs import installed
from crawler.bench.sites.shape import Shape
from crawler.bench.sites.web_shape import WebShape
from crawler.cli.commands.bench import crawls
from crawler.cli.commands.bench.options import print_and_save

CHEAT = "cheating:crawl_one_page"


def test_all_our_crawls_fetch_the_pages_of_all_hosts():
    report = crawl.run(Shape(14, hosts=7, absolute=True), concurrency=4, repeats=1)

    assert (report.setting["hosts"], report.setting["per_host"]) == (7, 2)
    assert report.failures == []
    assert list(report.rows) == [one.name for one in crawl.OWN]


def test_a_crawl_has_one_sample_per_repeat_and_names_a_contender_that_fails(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    monkeypatch.setattr(crawl, "OWN", (crawl.BARE, crawl.OFF))
    cheat = crawl.Contender("cheat", CHEAT)

    report = crawl.run(Shape(5), concurrency=1, repeats=2, others=[cheat])

    assert list(report.rows) == [one.name for one in crawl.OWN]
    assert [len(samples["cpu_us"]) for samples in report.rows.values()] == [2, 2]
    (limit,) = report.targets
    assert limit.bound == 1.6
    assert limit.holds == (limit.value <= 1.6)
    with pytest.raises(BenchError, match=r"^cheat: not comparable"):
        print_and_save(report, crawl.show(report), history=tmp_path / "kept", as_json=False)
    assert crawl.OFF.name in capsys.readouterr().out
    assert history.trends(tmp_path / "kept")


def test_without_the_bare_loop_there_are_rows_without_ratios(monkeypatch):
    bare = crawl.Contender(crawl.BARE.name, "nowhere:crawl")
    monkeypatch.setattr(crawl, "OWN", (bare, crawl.OFF))
    monkeypatch.setattr(fetch, "ROWS", {name: fetch.ROWS[name] for name in ("CurlFetch",)})
    monkeypatch.setattr(fetch, "find_spec", bool)

    crawled = crawl.run(Shape(5), concurrency=1, repeats=1)
    fetched = fetch.run(5, 1)

    assert [failure.partition(":")[0] for failure in crawled.failures] == ["bare loop"]
    assert crawled.targets == []
    assert fetched.targets == []
    assert "×" in crawl.show(crawled)
    assert "CurlFetch" in fetch.show(fetched)


def test_a_missing_program_is_an_error_that_names_the_extra(monkeypatch):
    monkeypatch.setattr(crawl, "find_spec", lambda _: None)
    monkeypatch.setattr(crawl, "which", lambda _: None)

    with pytest.raises(ValueError, match=r"scrapy is not installed: pip install -e '.*\[bench\]'"):
        crawl.peers(["scrapy"])
    with pytest.raises(ValueError, match="wget2 is not installed"):
        crawl.peers(["wget2"])


def test_by_default_missing_programs_are_left_out_and_said_so(monkeypatch):
    monkeypatch.setattr(crawl, "find_spec", lambda name: name == "crawlee")
    monkeypatch.setattr(crawl, "which", lambda _: None)

    others, notes = crawls._others(None)

    assert others == [crawl.CRAWLEE, crawl.TUNED_CRAWLEE]
    assert [note.partition(":")[2].split()[0] for note in notes] == ["wget2", "scrapy"]


def test_a_peer_that_is_named_twice_is_measured_once(monkeypatch):
    monkeypatch.setattr(crawl, "find_spec", bool)

    assert crawl.peers(["crawlee", "scrapy", "crawlee"]) == [
        crawl.CRAWLEE,
        crawl.TUNED_CRAWLEE,
        crawl.SCRAPY,
        crawl.DEFAULT_SCRAPY,
    ]


@pytest.mark.parametrize("peer", crawl.PEERS)
def test_other_programs_crawl_the_whole_site(monkeypatch, peer):
    if crawl.missing(peer):
        pytest.skip(crawl.missing(peer))
    monkeypatch.setattr(crawl, "OWN", (crawl.BARE,))

    report = crawl.run(WebShape(30), concurrency=4, repeats=1, others=crawl.PEERS[peer])

    assert report.failures == []
    assert {row["pages"][0] for row in report.rows.values()} == {30}


def test_a_row_with_other_pages_than_the_first_is_a_failure():
    rows = crawled(bare=1.0, near=1.0, far=1.0)
    rows["near"]["pages"], rows["far"]["pages"] = [98, 98], [97, 97]

    assert crawl._differences(rows) == ["far: not comparable: fetched 97 pages, not 100"]
    assert list(rows) == ["bare", "near"]


def test_documentation_is_crawled_page_by_page(tmp_path, monkeypatch):
    monkeypatch.setattr(crawl, "OWN", (crawl.BARE, crawl.OURS))
    if not nginx.executable():
        pytest.skip("nginx is not installed")
    folder = tmp_path / "doc" / "sqlite3"
    (folder / "more").mkdir(parents=True)
    (folder / "index.html").write_text('<a href="more/">x</a><a href="code.c">y</a>')
    (folder / "more" / "index.html").write_text('<a href="../index.html#z">back</a>')
    (folder / "code.c").write_text("int x;")
    (docs,) = installed(share=tmp_path)

    report = crawl.run(docs, concurrency=2, repeats=1)

    assert not report.failures
    assert {row["pages"][0] for row in report.rows.values()} == {2}
    assert [target.bound for target in report.targets] == [1.0]


def crawled(**cpu):
    samples = {"pages_per_second": [1.0, 1.0], "rss_mb": [50.0, 60.0], "pages": [100, 100]}
    return {name: {"cpu_us": [us, us * 2], **samples} for name, us in cpu.items()}


def test_a_crawl_has_only_the_targets_of_its_rows():
    contenders = {
        "bare": crawl.BARE,
        "off": crawl.OFF,
        "ours": crawl.OURS,
        "scrapy": crawl.SCRAPY,
        "crawlee": crawl.CRAWLEE,
        "lean": crawl.TUNED_CRAWLEE,
    }
    rows = crawled(bare=100.0, off=150.0, ours=300.0, scrapy=900.0, crawlee=2400.0, lean=300.0)

    def targets(shape, *names):
        found = crawl._targets(shape, {contenders[name].name: rows[name] for name in names})
        return [(round(target.value, 2), target.bound, target.holds) for target in found]

    off, scrapy, crawlee = (1.5, 1.6, True), (6.0, 8.0, False), (16.0, 15.0, True)
    assert targets(Shape(1), *contenders) == [off, scrapy, crawlee]
    assert targets(Shape(1), "bare", "off", "lean") == [off]
    assert targets(Shape(1), "bare", "scrapy") == []
    assert targets(WebShape(1), *contenders) == [(3.0, 1.5, False), (3.0, 8.0, False)]


def test_a_table_of_crawls_has_a_ratio_for_every_row():
    setting = {"site": "9 pages", "hosts": 1, "concurrency": 1, "server": "nginx"}
    rows = {crawl.BARE.name: 100.0, crawl.CRAWLEE.name: 2400.0, crawl.TUNED_CRAWLEE.name: 300.0}

    lines = crawl.show(Report("crawl", setting, crawled(**rows))).splitlines()

    assert lines[3].split()[:4] == ["Crawlee,", "as", "documented", "24.00"]
    assert lines[4].split()[:3] == ["Crawlee,", "tuned", "3.00"]
