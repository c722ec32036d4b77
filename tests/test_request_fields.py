from pathlib import Path

import pytest

from crawler import Spider
from crawler.data import Request, Response
from crawler.headers import Headers
from crawler.serialization import request_from_dict

URL = "http://site.test/"


class SmartText(str):
    """As lxml and BeautifulSoup give: text that also knows the document it is from."""

    __slots__ = ("document",)


@pytest.mark.parametrize(
    ("body", "sent"), [("é", b"\xc3\xa9"), (bytearray(b"x"), b"x"), (memoryview(b"y"), b"y")]
)
def test_a_body_becomes_bytes(body, sent):
    assert Request(URL, body=body).body == sent
    assert Response(URL, 200, body=body).body == sent


@pytest.mark.parametrize("body", [5, ["a"], {"a": "b"}])
def test_a_body_that_is_no_text_and_no_bytes_is_refused(body):
    with pytest.raises(ValueError, match="body must be bytes or text"):
        Request(URL, body=body)
    with pytest.raises(ValueError, match="body must be bytes or text"):
        Response(URL, 200, body=body)


@pytest.mark.parametrize("url", [None, b"http://site.test/", 5, ["http://site.test/"], "", " "])
def test_a_url_that_is_no_text_is_refused(url):
    with pytest.raises(ValueError, match="url must"):
        Request(url)


@pytest.mark.parametrize(
    ("given", "url"),
    [
        (" http://a.test/x\n", "http://a.test/x"),
        ("http://a.test/a b?q=ü c#é", "http://a.test/a%20b?q=%C3%BC%20c#%C3%A9"),
        ("http://Grüße.test", "http://xn--gre-6ka8l.test/"),
        ("http://a.test/?q=100%&r={x}", "http://a.test/?q=100%&r={x}"),
        ("http://a.test/ü\r\nX-Injected: 1", "http://a.test/ü\r\nX-Injected: 1"),
        ("/ü", "/ü"),
    ],
)
def test_a_url_is_written_as_browsers_write_it(given, url):
    assert Request(given).url == Request("http://b.test/").replace(url=given).url == url


def test_a_url_from_a_selector_is_kept_as_plain_text():
    request = Request(SmartText(URL))

    assert type(request.url) is str
    assert request == Request(URL)


@pytest.mark.parametrize(("method", "kept"), [("get", "GET"), ("Post", "POST"), ("M-SEARCH",) * 2])
def test_a_method_is_in_upper_case(method, kept):
    assert Request(URL, method=method).method == kept


@pytest.mark.parametrize(
    "method", ["", "GET ", "GET\r\n", "GET\r\nHost: x", "GE\0T", "G T", "GÉT", None, 5, b"GET"]
)
def test_a_method_that_is_no_word_is_refused(method):
    with pytest.raises(ValueError, match="method must be a word"):
        Request(URL, method=method)


@pytest.mark.parametrize("name", ["", "A b", "A:", "A\r\nB", "A\n", "A\0", "Ä", 5, None, b"A"])
def test_a_header_name_that_is_no_word_is_refused(name):
    with pytest.raises(ValueError, match="header name"):
        Request(URL, headers={name: "x"})


@pytest.mark.parametrize("value", ["a\r\nB: c", "a\n", "\ra", "a\0", 5, None, b"a", ["a"]])
def test_a_header_value_that_could_break_out_of_its_line_is_refused(value):
    with pytest.raises(ValueError, match="header A must be text without line breaks"):
        Request(URL, headers={"A": value})
    with pytest.raises(ValueError, match="header A"):
        Request(URL, headers=Headers([("A", value)]))
    with pytest.raises(ValueError, match="header A"):
        Request(URL).replace(headers=[("A", value)])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("a", "b; c=d"),
        ("a", "b\r\nX: y"),
        ("a", "b\n"),
        ("a", "b\0"),
        ("a=b", "c"),
        ("a;", "c"),
        ("a\n", "c"),
        ("", "c"),
        ("a", None),
        ("a", 5),
        (5, "a"),
        ("a", b"b"),
    ],
)
def test_a_cookie_that_could_become_another_is_refused(name, value):
    with pytest.raises(ValueError, match="cookie"):
        Request(URL, cookies={name: value})


@pytest.mark.parametrize("path", ["", b"file", "a\0b"])
def test_a_file_that_cannot_be_named_is_refused(path):
    with pytest.raises(ValueError, match="save_to must be the name of a file"):
        Request("http://site.test/", save_to=path)


def test_a_path_to_save_to_is_kept_as_text():
    assert Request("http://site.test/", save_to=Path("a") / "b").save_to == "a/b"
    assert Request("http://site.test/", save_to="files/").save_to == "files/"


def test_cookies_may_be_given_as_in_scrapy():
    given = [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}]

    assert Request("http://site.test/", cookies=given).cookies == {"a": "1", "b": "2"}


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"url": None}, "url must be text, not None: has a selector found nothing?"),
        (
            {"url": "http://a.test/", "cookies": [{"name": "a"}]},
            "cookies must be a mapping of names",
        ),
        (
            {"url": "http://a.test/", "cookies": [{"name": "a", "value": "1", "path": "/x"}]},
            "cookies must be a mapping of names to values, not [{'name': 'a', 'value': '1', 'path'",
        ),
        (
            {"url": "http://a.test/", "cookies": {"a": 1}},
            "the value of the cookie 'a' must be text, not 1",
        ),
        ({"url": "http://a.test/", "priority": "high"}, "priority must be a whole number, not 'h"),
        ({"url": "http://a.test/", "priority": None}, "priority must be a whole number, not None"),
        ({"url": "http://a.test/", "timeout": "5"}, "timeout must be more than 0 seconds, not '5'"),
        (
            {"url": "http://a.test/", "meta": {"handle_httpstatus_list": 404}},
            'meta["handle_httpstatus_list"] must be a list of status codes, not 404',
        ),
        (
            {"url": "http://a.test/", "meta": {"max_redirects": "0"}},
            "meta[\"max_redirects\"] must be a whole number, not '0'",
        ),
        ({"url": "http://a.test/", "headers": "POST"}, "headers must be a mapping, not 'POST': g"),
    ],
)
def test_fields_of_a_wrong_type_are_named(fields, complaint):
    with pytest.raises(ValueError) as info:
        Request(**fields)

    assert str(info.value).startswith(complaint)


def test_the_callback_may_be_in_second_place_as_in_scrapy():
    class Two(Spider):
        def page(self, response): ...

    posted = Request(URL, Two().page, method="POST", body="x")

    assert posted == Request(URL, "POST", body="x", callback="page")
    assert posted.replace(method="PUT") == Request(URL, method="put", body="x", callback="page")


def test_none_is_nothing_as_in_scrapy():
    names = ["headers", "body", "cookies", "meta", "cb_kwargs", "callback", "errback"]

    assert Request(URL, **dict.fromkeys(names)) == Request(URL)


@pytest.mark.parametrize(
    ("meta", "instead"),
    [
        ({"proxy": "http://proxy.test"}, "proxy="),
        ({"dont_redirect": True, "n": 1}, r'meta\["max_redirects"\] = 0'),
        ({"cookiejar": 1}, r'meta\["session"\]'),
        ({"download_timeout": 5}, "timeout="),
    ],
)
def test_a_key_of_meta_that_only_scrapy_obeys_is_refused_with_what_to_use(meta, instead):
    with pytest.raises(ValueError, match=rf"has no effect here: use {instead}"):
        Request(URL, meta=meta)


def test_a_stored_request_keeps_its_meta():
    stored = {"url": URL, "meta": {"proxy": "http://proxy.test"}}

    assert request_from_dict(stored).meta == {"proxy": "http://proxy.test"}


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("flags", "meta="),
        ("encoding", "UTF-8"),
        ("formdata", "form="),
        ("formnumber", "formcss="),
        ("max_redirects", "meta="),
        ("url_", "'url_'$"),
    ],
)
def test_an_unknown_argument_is_named_with_what_to_write_instead(name, instead):
    with pytest.raises(TypeError, match=f"has no argument '{name}'") as caught:
        Request(URL, **{name: "utf-8"})
    caught.match(instead)


def test_an_assignment_is_answered_with_what_to_write():
    with pytest.raises(AttributeError, match=r"request = request\.replace\(priority=…\)"):
        Request(URL).priority = 1
