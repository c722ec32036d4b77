import sys

import pytest

from crawler import DropItem, Job, Spider, crawl
from crawler.spider import ItemPipelines
from crawler.testing import Site

PAGES = {"/": "home"}


class One(Spider):
    start_urls = ["http://site.test/"]
    settings = {"delay": 0}

    def parse(self, page):
        yield {"text": page.text, "by": []}


def add(name):
    def process(item):
        item["by"].append(name)
        return item

    return process


class Recording:
    def __init__(self):
        self.calls = []

    def open_spider(self, spider):
        self.calls.append(("open", spider.name))

    def process_item(self, item, spider):
        item["by"].append(spider.name)
        self.calls.append("item")
        return item

    def close_spider(self):
        self.calls.append("close")


def test_pipelines_of_a_spider_see_each_item_in_their_order():
    recording = Recording()

    class Spidered(One):
        pipelines = [add("first"), recording, add("last")]

    result = crawl(Spidered(), fetch=Site(PAGES))

    assert result.items == [{"text": "home", "by": ["first", "spidered", "last"]}]
    assert recording.calls == [("open", "spidered"), "item", "close"]


def test_a_class_makes_one_pipeline_for_each_crawl():
    class Numbering:
        def __init__(self):
            self.number = 0

        def process_item(self, item):
            self.number += 1
            return item | {"number": self.number}

    class Spidered(One):
        pipelines = [Numbering]

    for _ in range(2):
        assert crawl(Spidered(), fetch=Site(PAGES)).items[0]["number"] == 1


def test_a_dropped_item_reaches_no_feed():
    def drop(item):
        raise DropItem("no need")

    class Spidered(One):
        pipelines = [drop]

    written = []
    result = crawl(Spidered(), fetch=Site(PAGES), feeds=[lambda item: written.append(item) or item])

    assert result.items == written == []
    assert result.summary.items.dropped == 1


def test_a_project_names_its_pipelines_in_a_setting(tmp_path, monkeypatch):
    (tmp_path / "shop_pipelines.py").write_text(
        "def clean(item):\n    return item | {'clean': True}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    class Spidered(One):
        pipelines = [lambda item: item | {"later": item["clean"]}]

    result = crawl(Spidered(), fetch=Site(PAGES), pipelines=["shop_pipelines:clean"])
    sys.modules.pop("shop_pipelines")

    assert result.items[0]["later"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["nowhere.pipelines:Clean"], "'nowhere.pipelines:Clean' must be MODULE:NAME"),
        (["crawler:nothing"], "'crawler:nothing' must be MODULE:NAME"),
        ([""], "'' must be MODULE:NAME"),
        ([5], "must be a function of an item, or have process_item"),
    ],
)
def test_what_is_not_a_pipeline_is_refused_at_the_start(given, message):
    with pytest.raises(ValueError, match=message):
        ItemPipelines(given, One())


class Stored:
    """A pipeline as Scrapy builds it."""

    def __init__(self, place):
        self.place = place

    @classmethod
    def from_crawler(cls, crawler):
        return cls(crawler.settings.get("PLACE"))

    def process_item(self, item):
        return item | {"place": self.place}


class StoredHere(Stored):
    def __init__(self):
        super().__init__("here")


def test_a_pipeline_that_scrapy_would_build_says_to_name_an_instance(caplog):
    site, start = Site({"/": ""}), ["http://site.test/"]

    class Stores(Spider):
        start_urls = start
        pipelines = [Stored]

        def parse(self, page):
            yield {"n": 1}

    with pytest.raises(ValueError, match=r"needs arguments: name an instance .* Stored\(…\)"):
        crawl(Stores(), fetch=site)
    Stores.pipelines = [StoredHere]
    assert crawl(Stores(), fetch=site).items == [{"n": 1, "place": "here"}]
    assert "StoredHere.from_crawler() is never called" in caplog.text
    Stores.pipelines = [Stored("there")]
    assert crawl(Stores(), fetch=site).items == [{"n": 1, "place": "there"}]


def test_hooks_of_a_pipeline_that_are_never_called_are_named_at_the_start(caplog):
    class Opened:
        def open(self): ...
        def close(self): ...
        def process_item(self, item):
            return item

    class Spidered(One):
        pipelines = [Opened, Recording]

    crawl(Spidered(), fetch=Site(PAGES))

    assert [record.getMessage() for record in caplog.records] == [
        "Opened.open() is never called: write open_spider(self)",
        "Opened.close() is never called: write close_spider(self)",
    ]


def test_a_pipeline_may_be_asynchronous_as_long_as_it_awaits_nothing():
    class Asynchronous(Recording):
        async def open_spider(self, spider):
            super().open_spider(spider)

        async def process_item(self, item, spider):
            return super().process_item(item, spider)

    pipeline = Asynchronous()

    class Spidered(One):
        pipelines = [pipeline]

    assert [item["by"] for item in crawl(Spidered(), fetch=Site(PAGES)).items] == [["spidered"]]
    assert pipeline.calls == [("open", "spidered"), "item", "close"]


def test_what_was_opened_is_closed_if_the_next_one_cannot_be_opened():
    class Broken:
        def open_spider(self, spider):
            raise OSError("no disk")

        def process_item(self, item):
            return item

    recording = Recording()

    class Spidered(One):
        pipelines = [recording, Broken()]

    with pytest.raises(OSError, match="no disk"):
        crawl(Spidered(), fetch=Site(PAGES))
    assert recording.calls == [("open", "spidered"), "close"]


def test_an_error_names_the_pipeline():
    class Failing:
        def process_item(self, item, spider):
            raise KeyError("price")

    class Spidered(One):
        pipelines = [Failing]

    result = crawl(Spidered(), fetch=Site(PAGES))

    assert "KeyError: 'price'" in str(result.errors[0])


def test_an_item_ends_at_the_pipeline_that_fails(tmp_path):
    def fail(item):
        raise ValueError("no price")

    class Failing(One):
        pipelines = [add("a"), fail, add("b")]

    seen = []
    with Job(tmp_path / "job") as job:
        job.open_feed(str(tmp_path / "items.jsonl"))
        result = crawl(
            Failing(), fetch=Site(PAGES), job=job, feeds=[lambda item: seen.append(item) or item]
        )

    assert (result.items, seen, (tmp_path / "items.jsonl").read_text()) == ([], [], "")
    assert result.summary.urls.failed == {"process": 1}
    assert result.summary.items.failed == 1
