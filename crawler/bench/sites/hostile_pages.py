"""
Pages made to take long: each repeats something that a careless reader reads again and again.

A page is a function of its size, so that a reader can be measured at one size and at twice that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

HTML, RSS, ATOM, SITEMAP, XML = (
    "text/html",
    "application/rss+xml",
    "application/atom+xml",
    "application/xml",
    "text/xml",
)


@dataclass(frozen=True)
class HostilePage:
    """
    *unit* is repeated between *start* and *end*; "#" in it becomes the number of the repeat.

    With *then*, that is repeated after it, and each of the two makes half of the page.
    """

    unit: str
    start: str = ""
    end: str = ""
    then: str = ""
    content_type: str = HTML

    def body(self, size: int) -> bytes:
        """Return the page with about *size* bytes."""
        parts = [self.start, *self._repeat(self.unit, size // (2 if self.then else 1))]
        if self.then:
            parts += self._repeat(self.then, size // 2)
        return "".join((*parts, self.end)).encode()

    @staticmethod
    def _repeat(unit: str, size: int) -> Iterator[str]:
        if "#" not in unit:
            yield unit * (size // len(unit) + 1)
            return
        written = 0
        for number in count():
            if written >= size:
                return
            part = unit.replace("#", str(number))
            written += len(part)
            yield part


def _pages(*units: str, **others: str) -> dict[str, HostilePage]:
    return {unit: HostilePage(unit, **others) for unit in units}


#: Tags, quotes and comments without an end.
_WITHOUT_END = _pages(
    *(
        "<a",
        "<a ",
        "<a b",
        "<a b=",
        '<a b="',
        "<a b='",
        "<a b=\"'",
        "<a b=c",
        "<",
        "<!",
        "</",
        "<?",
    ),
    *("<!--", "<!-- <!--", "--><!--", "<!-", "<![CDATA[", "]]>", "</a", "</title ", '</title a="'),
    *("<script>", "<script><!--", "<script><!--<script>", "<style>", "<textarea>", "<title>"),
    *("<xmp>", "<iframe>", "<noframes>", "<plaintext>", "<svg><![CDATA[", "<svg><title>"),
    *("&", "&amp", "&#", "&#x", "&notin", "&nosuch;", "\0", '"', "'", "=", " "),
)
#: Elements inside each other.
_NESTED = _pages(
    *(
        "<div>",
        "<b>",
        "<i><div>",
        "<x>",
        "<p>",
        "<a>",
        "<a><p>",
        "<b><p>",
        "<font color=#>",
        "<nobr>",
    ),
    *("<ul><li>", "<dl><dd>", "<rp>", "<ruby><rt>", "<option>", "<optgroup>", "<select><option>"),
    *("<table>", "<table><td>", "<table>x<td>", "<form><table><td>", "<table><b>", "<table><a>"),
    *("<form>", "<button>", "<object>", "<template>", "<svg>", "<svg><g>", "<math><mi>", "<h1>"),
    *("<svg><foreignObject><div>", "<svg><p>", "<pre>", "<body a#=1>", "<html a#=1>", "<x#>"),
    *("<x><div></x></div>", "<button><button></button><span></button>", "<b><div></b></div>"),
    "<form><table><td></form></td></table></form>",
)
#: Elements inside each other, and then tags at which a parser looks at all of them.
_THEN = {
    f"{unit}… {then}…": HostilePage(unit, then=then)
    for unit, then in (
        *(
            ("<b>", "<p>"),
            ("<i>", "<div>"),
            ("<i>", "</b>"),
            ("<div>", "</p>"),
            ("<div>", "<li></li>"),
        ),
        *(("<x>", "</i>"), ("<span>", "</p>x"), ("<svg>", "</x>"), ("<table>", "</td>")),
        *(("<p><b a=#>", "<p>x"), ("<b a=#>", "</p>x<div></div>"), ("<a href=/#>", "<p>x")),
    )
}
_WIDE = {
    "a tag with many attributes": HostilePage(" a#", "<a", ">"),
    "a tag with many values": HostilePage(' a#="<b>"', "<a", ">"),
    "many tags with many attributes": HostilePage("<a " + "a b c d " * 120 + ">"),
    "many attributes, then many tags": HostilePage("b ", "<a ", then=f"><a {'a ' * 997}"),
    "a srcset of commas": HostilePage(",", "<img srcset='x", "'>"),
    "a srcset of blanks": HostilePage(" x", "<img srcset='", "'>"),
    "styles without an end, and a bracket": HostilePage("<style>", "", "<"),
    "a long title": HostilePage("x &amp; ", "<title>", "</title>"),
    "a long text": HostilePage("x "),
    "links": HostilePage("<a href=/#>x</a>"),
    "hrefs with queries": HostilePage("<a href='?é=#&amp;b'>x</a>"),
    "hrefs that are queries": HostilePage("<a href=?é#>x</a>"),
    "hrefs with other letters": HostilePage("<a href=/é#>x</a>"),
    "hrefs with backslashes": HostilePage("<a href='\\#'>x</a>"),
    "hrefs with blanks": HostilePage("<a href='/a b#'>x</a>"),
    "hrefs with references": HostilePage("<a href=&lt>"),
    "values with references": HostilePage("<meta a=&x>"),
    "names with references": HostilePage("<meta name=&x>"),
    "empty hrefs": HostilePage("<a href=''>"),
    "anchors in capitals": HostilePage("<A HREF=/#>x</A>"),
    "hrefs with dots": HostilePage("../", "<a href='", "'>x</a>"),
    "a long base": HostilePage("a", "<base href='/", then="'><a href=?#>"),
    "robots": HostilePage("<meta name=robots content='a,a,a'>"),
}
_XML_PAGES = {
    "news": HostilePage(
        "<item><title>News #</title><link>/news/#</link><guid>#</guid></item>",
        "<rss><channel>",
        "</channel></rss>",
        content_type=RSS,
    ),
    "news without an end": HostilePage("<item><link>", "<rss>", content_type=RSS),
    "news in CDATA": HostilePage("<item><link><![CDATA[", "<rss>", content_type=RSS),
    "news with fields": HostilePage("<x>a</x>", "<rss><item>", "</item></rss>", content_type=RSS),
    "news with links": HostilePage(
        "<link rel=self href='#'/>", "<feed><entry>", "</entry></feed>", content_type=ATOM
    ),
    "news with attributes": HostilePage(
        " a#='b'", "<feed><entry><link", "/></entry></feed>", content_type=ATOM
    ),
    "news with a long word in a tag": HostilePage("[", "<feed xml:a=b ", ">", content_type=ATOM),
    "news with bases inside bases": HostilePage(
        "<feed xml:base='a-rather-long-folder/'><entry><link href='#'/></entry>", content_type=ATOM
    ),
    "news with entities": HostilePage("&a;", "<rss><item><link>", content_type=RSS),
    "a sitemap": HostilePage(
        "<url><loc>/page/#</loc></url>", "<urlset>", "</urlset>", content_type=SITEMAP
    ),
    "a sitemap of comments": HostilePage("<!-- ", "<urlset>", content_type=SITEMAP),
    "a doctype": HostilePage("[", "<!DOCTYPE a ", content_type=XML),
    "a doctype of brackets": HostilePage("] ", "<!DOCTYPE a [", content_type=XML),
    "doctypes": HostilePage("<!DOCTYPE a [", content_type=XML),
    "instructions": HostilePage("<?a ", content_type=XML),
    "XML tags without an end": HostilePage("<a b='", content_type=XML),
}
PAGES = {**_WITHOUT_END, **_NESTED, **_THEN, **_WIDE, **_XML_PAGES}
