"""A page that is flattened keeps its tree as far as it may, and its links in any case."""

import pytest
from selectolax.lexbor import LexborHTMLParser

from crawler.html_tokens import MOST_ATTRIBUTES
from crawler.spider.html_flattening import DEEPEST, flattened

LINK = "<a href=/found>here</a>"


def tree(html):
    return LexborHTMLParser(html).html


@pytest.mark.parametrize(
    "html",
    [
        "<!doctype html><html lang=en><head><title>a & b</title></head>\n<body class=x>c</body></html>",
        "<ul><li>a<li>b<ul><li>c</ul><li>d</ul>",
        "<dl><dt>a<dd>b<p>c<dt>d</dl>",
        "<p>a<p>b<div>c<p>d</div>e<h1>f</h1><p>g<pre>h</pre>",
        "<table><caption>a<tr><td>b<td>c<tr><th>d<table><tr><td>e</table>f</table>",
        "<table><thead><tr><th>a<tbody><tr><td>b<tfoot><tr><td>c</table>",
        "<select><option>a<option>b<optgroup><option>c</select>d",
        "<a href=1>a<a href=2>b</a>c",
        "<b>a<i>b</i></b><span>c<em>d</em></span>",
        "<div></p></div><p>a</span></p>",
        "<svg><g><path d=x /><title>t</title></g></svg>a<svg><p>b</svg>",
        "<svg><style>a</style><script>b<c></c></script></svg>d",
        "<math><mi>x</mi><mo>=</mo></math>a",
        "<script>a<b</script><style>c<d</style><textarea><p></textarea><xmp><i></xmp>",
        "<form><input><form><p>a</form>b",
        "<div a='x > y' b=\"<p>\" c=d/e>f</div g='>'>h",
        "<button>a<button>b</button>c",
        "<!-- a --><?b?><!c></ d>e<![CDATA[f]]>g",
        "<frameset><frame src=a></frameset>",
        "<object><p>a</object>b<marquee>c</marquee>",
        "<template><tr><td>a</template>b",
        "a<br>b<hr>c<img src=d><noscript><p>e</noscript>",
        "<tr><td>a</td></tr>b",
        "a</p></b></div></body>b",
    ],
)
def test_the_tree_of_a_page_stays_the_same(html):
    assert tree(flattened(html)) == tree(html).replace("<!--[CDATA[f]]-->", "")


@pytest.mark.parametrize(
    "html",
    [
        f"<script><!--<script></script>{LINK}",
        f"<title>a</title b='>'>{LINK}",
        f"<svg><![CDATA[ <b> ]]></svg>{LINK}",
        f"{'<div>' * 1000}{LINK}",
        f"{'<b>' * 1000}{LINK}",
        f"{'<p>' * 100_000}{LINK}",
        f"<p {' '.join(f'a{n}' for n in range(1000))}>{LINK}",
        "<a " + " ".join(f"a{n}" for n in range(1000)) + f" href=/late>{LINK}",
    ],
)
def test_links_are_kept(html):
    hrefs = [
        element.attributes.get("href") for element in LexborHTMLParser(flattened(html)).css("a")
    ]

    assert "/found" in hrefs


@pytest.mark.parametrize("name", ["a", "object", "video", "form"])
def test_links_of_elements_that_are_too_deep_are_kept(name):
    html = "<div>" * 1000 + f"<{name} id=x>deep</{name}></div>" * 3

    found = LexborHTMLParser(flattened(html)).css(f"div {name}[id=x]")

    assert len(found) == 3


@pytest.mark.parametrize(
    ("html", "flat"),
    [
        ("<p><b>a<p>b", "<p><b>a</b></p><p>b"),
        ("<div><i>a</div>b</i>", "<div><i>a</i></div>b"),
        ("<plaintext><p>a", "&lt;p>a"),
        ("<svg><foreignObject><g>a</g></foreignObject></svg>", "<svg><g>a</g></svg>"),
        ("<p>a<b c='", "<p>a"),
        ("<x></y></x>", "<x></x>"),
        ("<body><body a=b><html c=d></body></body>", "<body><html c=d></body>"),
    ],
)
def test_what_parsers_would_repeat_or_read_in_two_ways_is_left_out(html, flat):
    assert flattened(html) == flat


def test_no_tag_has_too_many_attributes():
    html = f"<p {' '.join(f'a{n}=1' for n in range(5000))}>x</p>"

    [element] = LexborHTMLParser(flattened(html)).css("p")

    assert len(element.attributes) == MOST_ATTRIBUTES
    assert element.text() == "x"


def test_elements_are_nested_as_deep_as_allowed_and_no_deeper():
    assert flattened("<div>" * 1000 + "x") == "<div>" * DEEPEST + "x"
