"""The file in which a browser shows a page."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawler import Response
from crawler.cli.browser_view import _file_of
from crawler.spider import Page

URL = "http://site.test/a/b"


def file_of(body, content_type="text/html; charset=utf-8", url=URL):
    suffix, content = _file_of(Page.of(Response(url, 200, {"content-type": content_type}, body)))
    return suffix, content.decode("utf-8-sig")


@pytest.mark.parametrize(
    "body",
    [
        "<!DOCTYPE html><html lang=en><head><title>A</title></head><p>b",
        "\n<!doctype html>\n<p>b",
        "<p>b",
        "",
        "<script>alert(1)</script><base href=http://evil.test/>",
    ],
)
def test_links_lead_where_they_do_on_the_site_and_no_script_comes_before_the_rule(body):
    suffix, text = file_of(body)
    page = LexborHTMLParser(text)

    assert suffix == ".html"
    assert page.css_first("base").attributes["href"] in (URL, "http://evil.test/")
    rule, *_ = page.head.iter()
    assert rule.attributes["http-equiv"] == "Content-Security-Policy"
    assert rule.attributes["content"].startswith("script-src 'none'")
    assert text.lstrip().lower().startswith("<!doctype") == body.lstrip().lower().startswith("<!d")


def test_the_base_that_the_page_has_counts():
    text = file_of('<base href="/other/"><a href=x>')[1]

    assert '<base href="http://site.test/other/">' in text


@given(st.text(max_size=40))
def test_whatever_the_url_it_adds_one_element(path):
    text = file_of("<p>b", url=f"http://site.test/{path}")[1]
    page = LexborHTMLParser(text)

    assert [node.tag for node in page.head.iter()] == ["meta", "base"]
    assert page.body.html == "<body><p>b</p></body>"


def test_the_text_is_in_utf8_whatever_the_page_says():
    assert "é" in file_of("<meta charset=latin-1>\xe9".encode("latin-1"), "text/html")[1]


@pytest.mark.parametrize(
    ("content_type", "suffix"),
    [
        ("image/png", ".png"),
        ("IMAGE/PNG; x=y", ".png"),
        ("application/json", ".json"),
        ("application/pdf", ".pdf"),
        ("image/svg+xml", ".txt"),
        ("application/javascript", ".txt"),
        ("application/x-desktop", ".txt"),
        ("application/x-sh", ".txt"),
        ("text/xml", ".txt"),
        ("image/../../x", ".txt"),
        ("", ".txt"),
    ],
)
def test_other_types_are_shown_as_they_are_or_as_text(content_type, suffix):
    assert file_of(b"\x00\x01data", content_type)[0] == suffix
