import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.data import Request, Response
from crawler.spider import Page

URL = "http://site.test/dir/page"
BODY = """
<html><head><title>A page</title></head><body>
  <ul class=pager>
    <li><a href="/page/1" class="one">First</a>
    <li><a href="/page/2">Second</a>
    <li><a name="none">None</a>
  </ul>
  <img src="cat.png">
</body></html>
"""


class Quotes:
    def parse(self, response): ...

    def parse_item(self, response): ...

    def failed(self, error): ...


def page(body=BODY, content_type="text/html", url=URL, **fields):
    body = body.encode() if isinstance(body, str) else body
    return Page(url, 200, {"Content-Type": content_type}, body, **fields)


# -- a page is a response ---------------------------------------------------------------------


def test_a_page_is_made_of_a_response_without_copying_it():
    request = Request(URL, depth=3, meta={"shop": 7})
    response = Response(URL, 200, {"Content-Type": "text/html"}, b"<p>x", request, 0.5)

    made = Page.of(response)

    assert isinstance(made, Response)
    assert made.body is response.body
    assert made.request is request
    assert (made.url, made.status, made.elapsed) == (URL, 200, 0.5)
    assert (made.depth, made.meta["shop"]) == (3, 7)
    assert made.headers["content-type"] == "text/html"


def test_a_page_made_of_a_page_is_that_page():
    first = page()

    assert Page.of(first) is first


def test_what_was_decoded_and_parsed_before_is_not_done_again():
    response = Response(URL, 200, {"Content-Type": "text/html"}, BODY.encode())
    text = response.text

    assert Page.of(response).text is text


def test_a_changed_page_is_a_page_with_nothing_kept_of_the_old_one():
    first = page("<title>old</title>")
    assert first.title == first.css("title::text").get() == "old"

    second = first.replace(body=b"<title>new</title>")

    assert second.title == second.css("title::text").get() == "new"


def test_title_links_json_encoding_and_text():
    assert page().title == "A page"
    assert list(page().links()) == ["http://site.test/page/1", "http://site.test/page/2"]
    assert list(page().links(tags="img")) == ["http://site.test/dir/cat.png"]
    assert list(page().links(deny=r"/1$", css="ul")) == ["http://site.test/page/2"]
    assert page('{"a": [1]}', "application/json").json() == {"a": [1]}
    assert page(b"\xcf", "text/html; charset=windows-1251").text == "П"
    assert page(b"\xcf", "text/html; charset=windows-1251").encoding == "cp1251"


# -- selectors --------------------------------------------------------------------------------


def test_css_and_xpath_are_as_people_know_them():
    response = page()

    assert response.css("a::text").get() == "First"
    assert response.css("a::text").getall() == ["First", "Second", "None"]
    assert response.css("a::attr(href)").getall() == ["/page/1", "/page/2"]
    assert response.xpath("//a/@href").getall() == ["/page/1", "/page/2"]
    assert response.css("a.one").attrib["href"] == "/page/1"
    assert response.css("p::text").get(default="nothing") == "nothing"
    assert response.css("a::attr(href)").re(r"\d") == ["1", "2"]
    assert response.xpath("//a[@class=$name]/text()", name="one").get() == "First"
    assert response.css("ul").xpath("./li/a").css("::text").get() == "First"


def test_the_document_is_parsed_once():
    response = page()

    assert response.selector is response.selector
    assert response.css("ul")[0].root is response.xpath("//ul")[0].root


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("<p>Ελλάδα".encode("iso-8859-7"), "text/html; charset=iso-8859-7"),
        (b"<meta charset=iso-8859-7><p>" + "Ελλάδα".encode("iso-8859-7"), "text/html"),
        ("\ufeff<p>Ελλάδα".encode("utf-16-le"), "text/html"),
        ("<meta charset=latin-1><p>Ελλάδα".encode(), "text/html; charset=utf-8"),
        (
            '<?xml version="1.0" encoding="koi8-r"?><p>Ελλάδα</p>'.encode(),
            "text/xml; charset=utf-8",
        ),
    ],
)
def test_selectors_see_the_text_as_it_is_decoded_here(body, content_type):
    assert page(body, content_type).css("p::text").get() == "Ελλάδα"


def test_xml_keeps_its_names_and_html_does_not():
    body = "<Items><Link>http://x.test/</Link></Items>"

    assert page(body, "application/xml").xpath("//Link/text()").get() == "http://x.test/"
    assert page(body, "text/html").xpath("//Link").get() is None


@pytest.mark.parametrize(
    "hidden", ["", "<!DOC<!DOCTYPE a []>TYPE a [", "<!-- <!DOCTYPE a [ ]> -->", '<?pi "?>']
)
def test_entities_of_xml_are_not_expanded_and_files_not_read(hidden, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    laughs = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))
    entities = f'<!ENTITY e SYSTEM "{secret.as_uri()}"><!ENTITY l0 "ha">{laughs}'

    response = page(f"{hidden}<!DOCTYPE a [{entities}]><a>x&e;&l9;&l1;</a>", "text/xml")

    assert set(response.xpath("string(//a)").get()) <= set("x")
    assert "".join(response.css("a::text").getall()).startswith("x") or hidden


def test_jmespath_selects_in_json_whatever_it_is_called():
    body = '{"items": [{"name": "a"}, {"name": "b"}]}'

    for content_type in ("application/json", "application/ld+json", "text/plain", ""):
        response = page(body, content_type)
        assert response.jmespath("items[*].name").getall() == ["a", "b"]

    assert page(BODY).jmespath("items").get() is None


@given(
    st.binary(max_size=100)
    | st.lists(st.sampled_from([b"<a", b">", b"\0", b"<?xml", b"&", b"\xff"])).map(b"".join),
    st.sampled_from(
        ["text/html", "text/xml", "application/xhtml+xml", "", "text/html; charset=utf-16"]
    ),
)
def test_selecting_never_fails_whatever_the_body(body, content_type):
    response = page(body, content_type)

    response.css("a::attr(href)").getall()
    response.xpath("//a/@href").getall()
    response.jmespath("a").getall()
    list(response.follow_all(css="a"))


def test_importing_the_package_imports_no_parser():
    program = "import crawler, sys; print([n for n in ('parsel', 'lxml') if n in sys.modules])"

    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )

    assert shown.stdout.strip() == "[]"


# -- joining ----------------------------------------------------------------------------------


def test_urljoin_goes_by_the_page_or_by_its_base():
    assert page().urljoin("x") == "http://site.test/dir/x"
    assert page("<base href=/b/>").urljoin("x") == "http://site.test/b/x"
    assert page("<!-- <base href=/b/> -->").urljoin("x") == "http://site.test/dir/x"
    assert (
        page('{"html": "<base href=/b/>"}', "application/json").urljoin("x")
        == "http://site.test/dir/x"
    )


def test_urljoin_gives_back_what_is_no_url():
    assert page().urljoin("http://[bad") == "http://[bad"


# -- following --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "select",
    [
        lambda r: "/page/1",
        lambda r: " ../page/1\n",
        lambda r: "http://site.test/page/1",
        lambda r: r.css("a")[0],
        lambda r: r.css("a::attr(href)")[0],
        lambda r: r.xpath("//a/@href")[0],
        lambda r: r.css("a::attr(href)").get(),
        lambda r: Request("/page/1"),
    ],
)
def test_follow_takes_whatever_says_where(select):
    response = page()

    request = response.follow(select(response), Quotes().parse_item)

    assert request.url == "http://site.test/page/1"
    assert type(request.url) is str
    assert request.callback == "parse_item"


def test_follow_takes_the_fields_of_the_request():
    request = page().follow(
        "x", "parse", errback=Quotes().failed, meta={"a": 1}, priority=5, dont_filter=True
    )

    assert (request.callback, request.errback, request.priority) == ("parse", "failed", 5)
    assert request.dont_filter
    assert request.meta["a"] == 1


def test_follow_of_a_request_keeps_its_fields_but_those_given():
    given = Request("x", "POST", body=b"b", callback="parse", meta={"a": 1})

    request = page().follow(given, priority=2)

    assert (request.url, request.method, request.body) == ("http://site.test/dir/x", "POST", b"b")
    assert (request.callback, request.priority) == ("parse", 2)


def test_follow_joins_to_the_base():
    assert page("<base href=/b/><a href=x>").follow("x").url == "http://site.test/b/x"


def test_a_link_that_is_no_url_is_left_to_the_frontier_to_refuse():
    assert page().follow("http://[bad").url == "http://[bad"


@pytest.mark.parametrize("select", ["li", "a[name]"])
def test_follow_of_what_is_no_link_says_what_to_select(select):
    response = page()

    with pytest.raises(ValueError, match=r"no link to follow .* select an element with an href"):
        response.follow(response.css(select)[0])


def test_follow_of_several_links_names_follow_all():
    response = page()

    with pytest.raises(ValueError, match=r"use follow_all\(\)"):
        response.follow(response.css("a"))


@pytest.mark.parametrize("callback", [lambda response: None, Quotes.parse])
def test_a_callback_that_cannot_be_found_again_by_name_is_refused(callback):
    with pytest.raises(ValueError, match="must be a method of the spider, or its name"):
        page().follow("x", callback)


@pytest.mark.parametrize(
    "how",
    [
        lambda r, do: r.follow_all(["/page/1", "/page/2"], do),
        lambda r, do: r.follow_all(r.css("a[href]"), do),
        lambda r, do: r.follow_all(r.css("a::attr(href)"), callback=do),
        lambda r, do: r.follow_all(r.xpath("//a/@href").getall(), callback=do),
        lambda r, do: r.follow_all(css="ul.pager a", callback=do),
        lambda r, do: r.follow_all(css="ul.pager a::attr(href)", callback=do),
        lambda r, do: r.follow_all(xpath="//ul//a", callback=do),
        lambda r, do: r.follow_all(r.links(), do),
    ],
)
def test_follow_all_makes_a_request_of_each_link(how):
    requests = list(how(page(), Quotes().parse))

    assert [request.url for request in requests] == [
        "http://site.test/page/1",
        "http://site.test/page/2",
    ]
    assert {request.callback for request in requests} == {"parse"}


@pytest.mark.parametrize(
    "arguments", [{}, {"hrefs": [], "css": "a"}, {"css": "a", "xpath": "//a"}, {"hrefs": "/x"}]
)
def test_follow_all_takes_one_source_of_links(arguments):
    with pytest.raises(ValueError, match="either several links, or css=, or xpath="):
        page().follow_all(**arguments)


def test_a_request_keeps_nothing_of_the_page_alive():
    import gc
    import weakref

    response = page()
    request = response.follow(response.css("a::attr(href)")[0])
    alive = weakref.ref(response)
    del response

    # Nothing refers back to the page, so it is freed without the garbage collector.
    gc.disable()
    try:
        assert alive() is None
    finally:
        gc.enable()
    assert request.url == "http://site.test/page/1"
