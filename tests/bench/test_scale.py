"""The growth of cost and memory."""

from crawler.bench import crawl, scale


def test_growth_is_computed_per_hundred_thousand_urls():
    small, first, last, spread_out = sizes = (
        *(scale.Size(pages, 1) for pages in (1000, 20_000, 70_000)),
        scale.Size(20_000, 10),
    )
    used = zip(sizes, (50.0, 60.0, 68.0, 90.0), strict=True)
    rows = {str(size): {"rss_mb": [mb]} for size, mb in used}

    memory, growth = scale._memory(sizes, rows)

    assert (memory.value, memory.holds) == (60.0, True)
    assert (growth.value, growth.holds) == (16.0, False)
    assert scale._memory((small, first, spread_out), rows) == []
    assert scale._memory((small, last), rows) == []


def test_sites_of_all_sizes_are_compared_small_ones_by_several_crawls(monkeypatch):
    sizes = (scale.Size(5, 1), scale.Size(12, 1), scale.Size(12, 3))
    crawled, measured = [], {}

    def sample(site, contender, concurrency):
        """Crawl once with each contender: the later figures are those of its first crawl."""
        crawled.append((site.shape.pages, contender.name))
        if contender.name not in measured:
            measured[contender.name] = crawl.sample(site, contender, concurrency)
        return measured[contender.name]

    monkeypatch.setattr(scale, "_ENOUGH", 10)
    monkeypatch.setattr(scale, "sample", sample)

    report = scale.run(sizes, 1)

    both = (crawl.OFF.name, crawl.BARE.name)
    assert crawled == [(pages, name) for pages in (5, 5, 12, 12) for name in both]
    shown = scale.show(report).splitlines()
    assert [line[: len(str(size))] for line, size in zip(shown[1:], sizes, strict=False)] == [
        "5 pages, 1 host",
        "12 pages, 1 host",
        "12 pages, 3 hosts",
    ]
    assert shown[1].split()[4] == "1.00"
    assert [target.bound for target in report.targets] == [scale.MOST_TIMES] * 2
    assert "2 per host" in report.notes[0]
