"""Which spider a file has, and how it is made."""

import sys

import click
import pytest

from crawler.cli.spider_file import load_spider, program_of

SPIDERS = """
from crawler import Spider

class Quotes(Spider):
    def __init__(self, tag="all", **options):
        super().__init__(**options)
        self.tag = tag
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    """Write a file of spiders; it is no module of this process afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])

    def write(text=SPIDERS, name="some_spiders.py"):
        monkeypatch.delitem(sys.modules, name.removesuffix(".py"), raising=False)
        (tmp_path / name).write_text(text)
        return name

    yield write
    sys.modules.pop("some_spiders", None)


def test_the_only_spider_of_a_file_is_made_with_its_arguments(file):
    spider = load_spider(file(), ["tag=love"])

    assert (type(spider).__name__, spider.tag) == ("Quotes", "love")
    assert program_of(spider) == "some_spiders.py:Quotes"


def test_one_of_several_is_named(file):
    name = file(SPIDERS + "\nclass Other(Quotes): pass\n")

    assert type(load_spider(f"{name}:Other")).__name__ == "Other"
    with pytest.raises(click.UsageError, match=f"found: {name}:Quotes or {name}:Other"):
        load_spider(name)


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (SPIDERS, "missing.py", "no such file: 'missing.py'; .*`crawler list`"),
        (SPIDERS, "some_spiders", "did you mean 'some_spiders.py'"),
        (SPIDERS, ".", "it is a directory, and `crawler list .` prints"),
        ("x = 1", "some_spiders.py", "a spider is a subclass of crawler.Spider"),
        ("import scrapy", "some_spiders.py", "imports scrapy, which is not installed"),
        ("from crawler import signals", "some_spiders.py", r"imports signals: write open\(\)"),
        ("from crawler.spider import XMLFeedSpider", "some_spiders.py", "write a Spider with page"),
        (
            "from crawler.http import Request",
            "some_spiders.py",
            "write from crawler import Request",
        ),
        (
            "import crawler.exceptions",
            "some_spiders.py",
            "crawler.exceptions, which does not exist",
        ),
    ],
)
def test_a_place_without_a_spider_is_an_error_with_a_remedy(
    file, monkeypatch, text, place, message
):
    monkeypatch.setitem(sys.modules, "scrapy", None)
    file(text)

    with pytest.raises(click.UsageError, match=message):
        load_spider(place)


def test_an_argument_that_init_does_not_take_is_an_error_that_says_how_to_give_one(file):
    name = file("from crawler import Spider\nclass A(Spider):\n    def __init__(self, tag): pass\n")

    with pytest.raises(click.UsageError, match=r"A: missing a required argument: 'tag'; -a NAME"):
        load_spider(name)
    with pytest.raises(click.UsageError, match=r"A: .*unexpected keyword argument 'speed'"):
        load_spider(name, ["tag=x", "speed=1"])


def test_what_a_file_prints_goes_to_stderr(file, capsys):
    load_spider(file(SPIDERS + "\nprint('hello')\n"))

    out, err = capsys.readouterr()
    assert ("hello" in out, "hello" in err) == (False, True)
