import pytest

from crawler.data import Response
from crawler.headers import Headers
from crawler.spider import links


def found(body, headers=(), **options):
    fields = Headers([("content-type", "text/html; charset=utf-8"), *headers])
    return list(links(Response("http://site.test/", 200, fields, body.encode()), **options))


@pytest.mark.parametrize(
    "rel", ["nofollow", "NoFollow", "external nofollow", " noopener\nnofollow"]
)
def test_links_marked_nofollow_are_left_out_unless_asked_for(rel):
    body = f"<a href=/a rel='{rel}'></a><a href=/b rel=next></a><a href=/c rel></a>"

    assert found(body) == ["http://site.test/b", "http://site.test/c"]
    assert len(found(body, nofollow=False)) == 3
    assert len(found(body, tags=("a", "img"))) == 2


@pytest.mark.parametrize("rel", ["ugc", "sponsored", "nofollowing", "noopener noreferrer"])
def test_other_rels_are_followed(rel):
    assert len(found(f"<a href=/a rel='{rel}'></a>")) == 1


@pytest.mark.parametrize(
    ("meta", "follows"),
    [
        ("<meta name=robots content=nofollow>", False),
        ("<META NAME=ROBOTS CONTENT='NOINDEX, NOFOLLOW'>", False),
        ("<meta content=none name=robots>", False),
        ("<meta name=robots content='noindex'>", True),
        ("<meta name=robots content='max-snippet:-1,follow'>", True),
        ("<meta name=robots>", True),
        ("<meta name=otherbot content=nofollow>", True),
        ("<meta name=description content=nofollow>", True),
    ],
)
def test_a_page_may_ask_that_none_of_its_links_be_followed(meta, follows):
    body = f"<head>{meta}</head><a href=/a>"

    assert bool(found(body)) is follows
    assert found(body, nofollow=False) == ["http://site.test/a"]


@pytest.mark.parametrize(
    ("values", "follows"),
    [
        (["nofollow"], False),
        (["noindex, NoFollow"], False),
        (["none"], False),
        (["noindex", "nofollow"], False),
        (["unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow"], False),
        (["nofollow, otherbot: noindex"], False),
        (["otherbot: nofollow"], True),
        (["otherbot: noindex, nofollow"], True),
        (["noindex"], True),
        ([""], True),
    ],
)
def test_a_header_may_ask_the_same(values, follows):
    headers = [("X-Robots-Tag", value) for value in values]

    assert bool(found("<a href=/a>", headers=headers)) is follows
    assert found("<a href=/a>", headers=headers, nofollow=False) == ["http://site.test/a"]


LINKS = "<base href=/in/><a href=x rel=nofollow></a><a href=/y></a><a href='#top' rel=nofollow></a>"


def left_out(body, headers=(), **options):
    fields = Headers([("content-type", "text/html; charset=utf-8"), *headers])
    page = Response("http://site.test/", 200, fields, body.encode())
    list(links(page, **options))
    return [url for some in page.left_out for url in some]


def test_the_page_knows_which_links_were_left_out():
    assert left_out(LINKS) == ["http://site.test/in/x"]
    assert left_out(LINKS, tags=("a", "img")) == ["http://site.test/in/x"]
    assert left_out(LINKS, nofollow=False) == []


def test_links_that_were_not_asked_for_are_not_left_out():
    assert left_out(LINKS, deny="/in/") == []
    assert left_out(LINKS, css="header") == []


@pytest.mark.parametrize(
    ("meta", "headers"),
    [("<meta name=robots content=none>", ()), ("", [("X-Robots-Tag", "nofollow")])],
)
def test_a_page_may_have_all_its_links_left_out(meta, headers):
    assert set(left_out(meta + LINKS, headers)) == {"http://site.test/in/x", "http://site.test/y"}


def test_a_copy_of_a_page_leaves_links_out_of_the_same_page():
    page = Response("http://site.test/", 200, {"content-type": "text/html"}, LINKS)

    list(links(page.replace(status=404)))

    assert len(page.left_out) == 1
