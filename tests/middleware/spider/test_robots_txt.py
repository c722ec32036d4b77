import gevent
import pytest

from crawler import Spider, crawl
from crawler.middleware import RobotsTxt
from crawler.testing import Reply, Site


class Everything(Spider):
    start_urls = ["http://site.test/"]
    middlewares = [RobotsTxt]

    def parse(self, response):
        yield {"url": response.url}
        yield from response.links()


@pytest.mark.parametrize("workers", [(1, 1), (2, 1), (4, 2), (1, 4)])
def test_workers_that_wait_for_one_robots_txt_do_not_lock_the_crawl(workers):
    hosts = [f"http://h{n}.test" for n in range(3)]
    pages = {
        "http://site.test/": "".join(f'<a href="{h}/{n}">x</a>' for h in hosts for n in range(4))
    }
    for host in hosts:
        pages[f"{host}/robots.txt"] = Reply(body="User-agent: *\nDisallow: /3", delay=0.01)
        pages |= {f"{host}/{n}": f'<a href="{host}/{n}/more">x</a>' for n in range(4)}
    download, analyze = workers
    tiny = {
        f"pools.{kind}_{part}": 1
        for kind in ("req", "resp", "item")
        for part in ("buffer_cap", "max_buffer_number")
    }

    with gevent.Timeout(20):
        result = crawl(
            Everything(accepted_domains=[f"h{n}.test" for n in range(3)]),
            fetch=Site(pages),
            robots=False,
            delay=0.005,
            retries=1,
            concurrency=download,
            analyze_workers=analyze,
            **tiny,
        )

    fetched = {item["url"] for item in result.items}
    assert {f"{host}/{n}" for host in hosts for n in range(3)} <= fetched
    assert not any(url.endswith("/3") for url in fetched)
