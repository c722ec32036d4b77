from dataclasses import dataclass

from crawler import Spider, crawl

from ..conftest import FREE


@dataclass
class Record:
    url: str
    when: tuple


class Shapes(Spider):
    def parse(self, page):
        yield Record(page.url, (1, 2))
        yield {"set": {2, 1}, "bytes": b"x"}


def test_items_are_the_records_that_feeds_would_write(site):
    seen = []

    def note(item):
        seen.append(item)
        return item

    result = crawl(Shapes(start_urls=[site.url()]), analyzers=1, feeds=[note], **FREE)

    assert sorted(result.items, key=len) == sorted(seen, key=len)
    assert {"url": site.url(), "when": [1, 2]} in seen
    assert {"set": [1, 2], "bytes": "eA=="} in seen


class Unsendable(Spider):
    def parse(self, page):
        yield {"lock": object()}
        yield page.follow("/page/1", self.other, meta={"lock": object()})
        yield page.follow("/page/2", self.other)

    def other(self, page):
        yield {"other": page.url}
        with self.waiting():
            yield {"never": "here"}


def test_a_finding_that_cannot_be_sent_is_an_error_of_its_page_only(site):
    result = crawl(Unsendable(start_urls=[site.url()]), analyzers=1, **FREE)

    assert result.items == [{"other": site.url("/page/2")}]
    assert result.summary.urls.failed == {"parse": 2}
    first, second = sorted((error.reason for error in result.errors), key=len, reverse=True)
    assert "waiting() is of no use" in second or "waiting() is of no use" in first
    causes = "".join(str(error.__cause__) for error in result.errors)
    assert "field 'lock'" in causes
    assert "meta['lock']" in causes
