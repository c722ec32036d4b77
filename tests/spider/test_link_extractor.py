import pytest

from crawler import LinkExtractor, Response

PAGE = """
<base href="http://shop.test/dir/page?q=1">
<nav><a href="/about">About</a> <a href="http://other.test/x">x</a></nav>
<div id="list"><a href="a.html">A</a><a href="?page=2">2</a><a href="a.html">again</a></div>
<ul><li><a href="/files/manual.PDF">manual</a><a href="/v1.2/start">start</a>
<a rel="nofollow" href="/private">p</a></ul>
<area href="/map"><a href="http://[bad/">bad</a>
"""
ALL = [
    "http://shop.test/about",
    "http://other.test/x",
    "http://shop.test/dir/a.html",
    "http://shop.test/dir/page?page=2",
    "http://shop.test/v1.2/start",
    "http://shop.test/map",
    "http://[bad/",
]


def urls(**conditions):
    response = Response("http://shop.test/", 200, {"Content-Type": "text/html"}, PAGE)
    return [link.url for link in LinkExtractor(**conditions).extract_links(response)]


def test_every_link_is_extracted_once_in_its_order():
    assert urls() == ALL


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"allow": r"/dir/"}, ALL[2:4]),
        ({"allow": [r"about$", r"map$"]}, [ALL[0], ALL[5]]),
        ({"deny": (r"shop", r"bad")}, [ALL[1]]),
        ({"allow_domains": "other.test"}, [ALL[1]]),
        ({"allow_domains": ["test"], "deny_domains": ["shop.test"]}, [ALL[1]]),
        ({"restrict_css": "#list"}, ALL[2:4]),
        ({"restrict_css": ["nav", "#list"]}, ALL[:4]),
        ({"restrict_xpaths": "//div[@id='list']"}, ALL[2:4]),
        ({"restrict_xpaths": ["//nav", "//ul"]}, [*ALL[:2], ALL[4]]),
        ({"tags": "area"}, [ALL[5]]),
        (
            {"deny_extensions": [".html"], "allow": "html|PDF"},
            ["http://shop.test/files/manual.PDF"],
        ),
        ({"nofollow": False, "allow": "private"}, ["http://shop.test/private"]),
    ],
)
def test_each_condition_leaves_links_out(conditions, expected):
    assert [url for url in urls(**conditions) if url in expected] == expected
    assert set(urls(**conditions)) == set(expected)


def test_arguments_of_scrapy_are_taken_with_its_defaults():
    usual = {"unique": True, "attrs": ("href",), "strip": True, "process_value": None}

    assert urls(**usual, canonicalize=False, restrict_text=None) == urls() == urls(attrs=["href"])


@pytest.mark.parametrize(
    ("given", "instead"),
    [
        ({"unique": False}, "once"),
        ({"attrs": ("href", "src")}, "tags="),
        ({"process_value": str.strip}, "process_links"),
    ],
)
def test_another_value_is_refused_with_what_to_write_instead(given, instead):
    with pytest.raises(ValueError, match=instead):
        LinkExtractor(**given)


def test_an_unknown_argument_is_named():
    with pytest.raises(TypeError, match="no argument 'alow'"):
        LinkExtractor(alow="x")
