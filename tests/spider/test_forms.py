from urllib.parse import parse_qsl

import pytest

from crawler import Response, Spider, crawl
from crawler.spider import Page
from crawler.testing import Site

LOGIN = """<base href="http://site.test/members/">
<form id=search action="/search"><input name=q></form>
<form id=login action="login?from=home" method=post>
  <input type=hidden name=token value="t&amp;1"><input name=user value=""><input name=pass type=password>
  <input type=checkbox name=stay checked><input type=checkbox name=spam>
  <select name=lang><option value=en>E<option value=de selected>D</select>
  <textarea name=note>hi</textarea><input name=off disabled value=1>
  <button name=go value=in>in</button><button name=go value=reset class=reset>reset</button>
</form>
<form id=file method=post enctype="multipart/form-data"><input type=file name=f></form>"""


def page(html=LOGIN, content_type="text/html; charset=utf-8"):
    body = html.encode(content_type.rpartition("=")[2])
    return Page.of(Response("http://site.test/start", 200, {"Content-Type": content_type}, body))


def sent(request):
    return dict(parse_qsl(request.body.decode(), keep_blank_values=True))


def test_a_form_keeps_its_values_and_gets_those_given():
    request = page().form("#login", {"user": "ada", "pass": "x y"}, priority=5)

    assert request.method == "POST"
    assert request.url == "http://site.test/members/login?from=home"
    assert request.headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert request.priority == 5
    assert sent(request) == {
        "token": "t&1", "user": "ada", "pass": "x y", "stay": "on", "lang": "de", "note": "hi",
        "go": "in",
    }  # fmt: skip


def test_the_button_decides_and_none_leaves_a_field_out():
    request = page().form("#login", {"stay": None}, click="button.reset")

    assert sent(request)["go"] == "reset"
    assert "stay" not in sent(request)
    assert "go" not in sent(page().form("#login", click=False))


def test_a_form_that_gets_puts_its_fields_into_the_query():
    request = page().form(data=[("q", "grüner Tee")], callback="found")

    assert request.method == "GET"
    assert request.url == "http://site.test/search?q=gr%C3%BCner+Tee"
    assert request.callback == "found"


def test_a_form_is_sent_in_the_encoding_of_its_page():
    html = '<form action=/s><input name=q value="é"></form><form method=post><input name=q></form>'
    latin = page(html, "text/html; charset=windows-1252")

    assert latin.form().url == "http://site.test/s?q=%E9"
    assert latin.form("[method]", {"q": "ü€漢"}).body == b"q=%FC%80%26%2328450%3B"


@pytest.mark.parametrize(
    ("accepted", "sent_as"),
    [
        ("iso-8859-1", b"q=%E9"),
        ("klingon windows-1250 utf-8", b"q=%E9"),
        ("klingon", b"q=%C3%A9"),
        ("utf-16", b"q=%C3%A9"),
        ("", b"q=%C3%A9"),
    ],
)
@pytest.mark.parametrize("charset", ["utf-8", "koi8-r"])
def test_a_form_is_sent_in_the_first_encoding_that_it_accepts(accepted, sent_as, charset):
    html = f'<form method=post accept-charset="{accepted}"><input name=q></form>'

    filled = page(html, f"text/html; charset={charset}").form(data={"q": "é"})

    assert filled.body == sent_as


def test_a_form_may_be_sent_in_any_encoding_of_a_page():
    japanese = page("<form><input name=q value=茶></form>", "text/html; charset=euc-jp")

    assert japanese.form().url == "http://site.test/start?q=%C3%E3"


def test_no_form_is_sent_in_utf_16():
    assert page("<form><input name=q value=é></form>", "text/html; charset=utf-16").form().url == (
        "http://site.test/start?q=%C3%A9"
    )


@pytest.mark.parametrize(
    ("css", "more", "message"),
    [
        ("#nothing", {}, "no form is selected by '#nothing'"),
        ("#login", {"click": ".nothing"}, "no button is selected by '.nothing'"),
        ("#file", {}, "'#file' cannot be sent: .*multipart/form-data"),
    ],
)
def test_what_cannot_be_sent_is_refused(css, more, message):
    with pytest.raises(ValueError, match=message):
        page().form(css, **more)


def test_a_spider_logs_in():
    class Members(Spider):
        start_urls = ["http://site.test/"]
        settings = {"delay": 0}

        def parse(self, response):
            yield response.form("#login", {"user": "ada"}, self.inside)

        def inside(self, response):
            yield {"sent": dict(parse_qsl(response.request.body.decode()))["user"]}

    pages = {"/": LOGIN, "/members/login?from=home": "welcome"}

    assert crawl(Members(), fetch=Site(pages)).items == [{"sent": "ada"}]
