"""Character references are replaced as the parser replaces them, whether it is asked or not."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.spider import character_references
from crawler.spider.character_references import decoded, decoded_text
from crawler.spider.html_tree import parse

REFERENCES = (
    *("&amp;", "&lt;", "&quot;", "&hellip;", "&eacute;", "&copy", "&copy=1", "&notit;", "&nosuch;"),
    *("&#8217;", "&#x41;", "&#0;", "&#128;", "&#150;", "&#200;", "&#4999;", "&#55296;", "&#9;"),
    *("&#65", "&", "&;", "&#;", "&NotEqualTilde;", "&fjlig;", "&AMP;", "&Amp;"),
)
texts = st.lists(
    st.sampled_from(
        [
            *REFERENCES,
            "&x",
            "&#x80",
            "&#xD800;",
            "&#99999999999;",
            "&copy/",
            "\r",
            "x",
            "1",
            "=",
            " ",
            "\n",
            "'",
            '"',
            "<",
            ">",
            "#",
            ";",
        ]
    ),
    max_size=6,
).map("".join)


@given(texts | st.builds("&#{};".format, st.integers(1, 6000)))
@example("a\r\nb&amp;")
def test_a_value_is_decoded_as_by_the_parser(value):
    quoted = value.replace('"', "&quot;")

    expected = parse(f'<p title="{quoted}">').tags("p")[0].attributes["title"] or ""

    assert decoded(value) == expected


@given(texts.filter(lambda text: "<" not in text))
def test_a_title_is_decoded_as_by_the_parser(title):
    assert decoded_text(title) == parse(f"<title>{title}</title>").tags("title")[0].text()


@pytest.mark.parametrize("name", REFERENCES)
def test_a_reference_is_decoded_as_by_the_parser(name):
    assert decoded(name) == parse(f'<p title="{name}">').tags("p")[0].attributes["title"]


@pytest.mark.parametrize("value", ["&x", "&lt", "a\rb", "&#150;", "&#x", "/?a=1&b=2&copy=3"])
def test_no_parser_is_needed_for_a_value(value, monkeypatch):
    """One for each of the hundred thousand values of a page would take half a minute."""
    expected = parse(f'<p title="{value}">').tags("p")[0].attributes["title"]
    monkeypatch.setattr(character_references, "parse", None)

    assert decoded(value) == expected
