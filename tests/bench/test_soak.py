import gevent

from crawler.bench import soak
from crawler.data import Request


def test_a_short_run_measures_the_crawl_to_its_end():
    with gevent.Timeout(120):
        report = soak.run(3.0, every=0.25, first=10)

    samples = report.rows["crawl"]
    assert len(samples["rss_mb"]) >= 3
    assert max(samples["rss_mb"]) > 10
    assert max(samples["descriptors"]) > 3
    assert [target.text.split()[0] for target in report.targets] == ["memory", "descriptors"]
    assert "pages, of which 10 % have a fault" in soak.show(report)


def test_growth_misses_a_target():
    flat, growing = [50.0] * 9, [50.0, 50.0, 50.0, 60.0, 70.0, 80.0, 90.0, 100.0, 110.0]

    def holds(memory, descriptors):
        return [
            target.holds for target in soak._targets({"rss_mb": memory, "descriptors": descriptors})
        ]

    assert holds(flat, flat) == [True, True]
    assert holds(growing, flat) == [False, True]
    assert holds(flat, growing) == [True, False]


def test_one_page_of_ten_has_a_fault_and_the_others_link_to_new_ones():
    pages = soak.EndlessPages(100)
    faulty = sum(pages[f"/p/{number}"] in soak._FAULTS for number in range(2000))

    assert 150 <= faulty <= 250
    first = pages["/"](Request("http://127.0.0.1:99/"))
    assert first.count("<a ") == 100
    assert "http://127.0.0.5:99/p/100" in first
    page = pages["/p/2"](Request("http://127.0.0.3:99/p/2"))
    assert "http://127.0.0.8:99/p/103" in page
    assert "http://127.0.0.1:99/p/104" in page
