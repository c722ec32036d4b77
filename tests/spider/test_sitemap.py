import gzip
import tracemalloc
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.spider.sitemap import SitemapEntry, parse_sitemap

from ..cpu_time import costs_at_most, takes_at_most

URLSET = """<?xml version="1.0" encoding="UTF-8"?>
<!-- made by hand -->
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
        xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <url>
    <loc> http://site.test/a?b=1&amp;c=2 </loc>
    <lastmod>2024-05-06</lastmod><changefreq>daily</changefreq><priority>0.8</priority>
    <image:image><image:loc>http://site.test/cat.png</image:loc></image:image>
  </url>
  <url><loc><![CDATA[http://site.test/d?e=1&f=2]]></loc><priority>high</priority></url>
</urlset>
"""
ENTRIES = [
    SitemapEntry("http://site.test/a?b=1&c=2", "2024-05-06", "daily", 0.8),
    SitemapEntry("http://site.test/d?e=1&f=2"),
]
INDEX = "<sitemapindex><sitemap><loc>http://site.test/s.xml</loc><lastmod>2024</lastmod></sitemap></sitemapindex>"


def read(body, **options):
    sitemap = parse_sitemap(body.encode() if isinstance(body, str) else body, **options)
    return sitemap.kind, list(sitemap.entries)


def urls(body, **options):
    return [entry.loc for entry in read(body, **options)[1]]


def urlset(*inside):
    return "<urlset>" + "".join(inside) + "</urlset>"


def url(name):
    return f"<url><loc>http://site.test/{name}</loc></url>"


# -- what it reads ----------------------------------------------------------------------------


def test_a_urlset_lists_pages_with_what_is_said_of_them():
    assert read(URLSET) == ("urlset", ENTRIES)


def test_an_index_lists_sitemaps():
    assert read(INDEX) == ("index", [SitemapEntry("http://site.test/s.xml", "2024")])


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n  "])
def test_a_text_sitemap_has_a_url_on_each_line(end):
    body = f"http://site.test/a{end}https://site.test/b?c&d{end}# no url{end}"

    assert read(body) == (
        "text",
        [SitemapEntry("http://site.test/a"), SitemapEntry("https://site.test/b?c&d")],
    )


def test_prefixes_and_case_do_not_matter():
    body = "<s:UrlSet xmlns:s='x'><s:URL><s:Loc>http://site.test/a</s:Loc></s:URL></s:UrlSet>"

    assert urls(body) == ["http://site.test/a"]


def test_the_address_of_a_picture_is_not_that_of_its_page():
    body = urlset(
        "<url><image:loc>http://site.test/i</image:loc><loc>http://site.test/p</loc></url>"
    )

    assert urls(body) == ["http://site.test/p"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-8"])
def test_byte_order_marks_are_understood(encoding):
    assert urls(urlset(url("ä")).encode(encoding)) == ["http://site.test/ä"]
    assert urls("http://site.test/ä\n".encode(encoding)) == ["http://site.test/ä"]


def test_a_declared_encoding_is_used():
    body = '<?xml version="1.0" encoding="windows-1251"?>' + urlset(url("п"))

    assert urls(body.encode("windows-1251")) == ["http://site.test/п"]


@pytest.mark.parametrize(
    "body",
    ["", " ", "<html><url><loc>http://x/</loc></url></html>", "<rss/>", "User-agent: *", "\0", "<"],
)
def test_what_is_no_sitemap_is_of_no_kind(body):
    assert read(body) == (None, [])


def test_an_empty_sitemap_is_one():
    assert read("<urlset/>") == ("urlset", [])
    assert read("<urlset><url></url><url/><url><loc/></url></urlset>") == ("urlset", [])


# -- what is broken ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loc", "expected"),
    [
        ("http://x.test/?a=1&b=2", "http://x.test/?a=1&b=2"),
        ("http://x.test/?a=1&copy=2", "http://x.test/?a=1&copy=2"),
        ("http://x.test/&eacute;&#228;&#xe4;&apos;", "http://x.test/éää'"),
        ("http://x.test/&unknown;&copyright;", "http://x.test/&unknown;&copyright;"),
        ("http://x.test/<!-- no -->a", "http://x.test/a"),
        ("http://x.test/a<b", "http://x.test/a<b"),
        ("\n\thttp://x.test/\x01\n", "http://x.test/\x01"),
    ],
)
def test_a_careless_loc_is_read_as_it_was_meant(loc, expected):
    assert urls(urlset(f"<url><loc>{loc}</loc></url>")) == [expected]


@pytest.mark.parametrize(
    "body",
    [
        "<urlset>" + url("a") + "<url><loc>http://site.test/cu",
        "<urlset>" + url("a") + "<url><loc>http://site.test/cut<",
        "<urlset>" + url("a") + "<url><loc",
        "<urlset><url><loc>http://site.test/a</loc>",
        "<urlset><url><loc>http://site.test/a</url></urlset>",
        "<urlset></wrong></url>" + url("a") + "</urlset>junk<<",
        "<urlset>" + url("a").replace("</url>", "") + "<url><loc>http://site.test/cut",
        "junk <urlset>" + url("a"),
    ],
)
def test_a_broken_sitemap_is_read_as_far_as_it_goes_and_no_cut_url_comes_out(body):
    expected = [] if body.startswith("junk") else ["http://site.test/a"]

    assert urls(body) == expected


def test_urls_whose_end_tags_are_missing_are_told_apart():
    body = "<urlset><url><loc>http://site.test/a</loc><url><loc>http://site.test/b</loc></urlset>"

    assert urls(body) == ["http://site.test/a", "http://site.test/b"]


PIECES = b"""<urlset> <url> <loc> </loc> </url> http://x/ < > & ' <!-- <![CDATA[ ]]> <!DOCTYPE
    x [ ]> <? / &#1114112; 0.5 <priority> \0 \xff"""


@given(st.binary(max_size=200) | st.lists(st.sampled_from(PIECES.split())).map(b"".join))
def test_no_body_makes_it_fail(body):
    for packed in (body, gzip.compress(body), gzip.compress(body)[:-9], b"\x1f\x8b" + body):
        assert all(entry.loc for entry in parse_sitemap(packed).entries)


# -- gzip -------------------------------------------------------------------------------------


def test_a_packed_sitemap_is_unpacked():
    assert read(gzip.compress(URLSET.encode())) == ("urlset", ENTRIES)
    assert urls(gzip.compress(b"http://site.test/a\n")) == ["http://site.test/a"]


def test_an_archive_of_several_members_is_one_text():
    half = len(URLSET) // 2
    packed = gzip.compress(URLSET[:half].encode()) + gzip.compress(URLSET[half:].encode())

    assert read(packed) == ("urlset", ENTRIES)


def test_of_a_broken_archive_what_stands_before_the_break_is_read():
    body = urlset(*map(url, range(6_000))).encode()
    packed = gzip.compress(body)

    for broken in (packed[: len(packed) // 2], packed[:-8], packed + b"junk"):
        found = urls(broken)
        assert found == [f"http://site.test/{n}" for n in range(len(found))]
        assert len(found) > 1500


def test_a_bomb_is_not_unpacked_past_the_size_asked_for():
    body = b"<urlset>" + url("a").encode() + b" " * 20_000_000
    packed = gzip.compress(body, 1)
    del body

    tracemalloc.start()
    sitemap = parse_sitemap(packed, max_size=1_000_000)
    found = [entry.loc for entry in sitemap.entries]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert found == ["http://site.test/a"]
    assert sitemap.truncated
    assert peak < 10_000_000


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_sitemap_that_is_too_large_is_cut_between_urls(pack):
    xml = pack(urlset(*map(url, range(100))).encode())
    text = pack("".join(f"http://site.test/{n}é\n" for n in range(100)).encode())

    for size in range(100, 140):
        for body in (xml, text):
            sitemap = parse_sitemap(body, max_size=size)
            found = [entry.loc.removesuffix("é") for entry in sitemap.entries]
            assert sitemap.truncated
            assert found == [f"http://site.test/{n}" for n in range(len(found))]
            assert found


def test_a_sitemap_of_the_size_asked_for_is_whole():
    body = urlset(url("a")).encode()

    assert not parse_sitemap(body, max_size=len(body)).truncated
    assert parse_sitemap(body, max_size=len(body) - 1).truncated


# -- safety and size --------------------------------------------------------------------------


def test_entities_are_not_expanded():
    laughs = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))
    body = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "ha">{laughs}]>' + urlset(url("&l9;"))

    assert urls(body) == ["http://site.test/&l9;"]


def test_nothing_outside_is_read(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    body = f'<!DOCTYPE x [<!ENTITY e SYSTEM "{secret.as_uri()}">]>' + urlset(url("&e;"))

    assert urls(body) == ["http://site.test/&e;"]


def test_the_first_entries_of_a_large_sitemap_come_before_the_last_is_read():
    body = urlset(*map(url, range(10_000))).encode()

    def read(most):
        return [entry.loc for entry in islice(parse_sitemap(body).entries, most)]

    assert read(1) == ["http://site.test/0"]
    assert len(read(None)) == 10_000
    assert costs_at_most(1 / 4, lambda: read(1), lambda: read(None))


@pytest.mark.parametrize(
    "piece",
    [
        "<",
        "<a ",
        "<url",
        "<url '",
        '<a "',
        "<!",
        "<![CDATA[",
        "<!--",
        "<?",
        "<!DOCTYPE x [",
        "&",
        "]",
        "</",
        "<url>",
    ],
)
def test_reading_takes_time_in_proportion_to_the_size(piece):
    body = ("<urlset>" + piece * 20_000).encode()

    assert takes_at_most(5, lambda: read(body))
