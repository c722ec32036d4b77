"""The spider middlewares that ship, one after the other."""

import logging
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from types import SimpleNamespace
from uuid import UUID

import attrs
import gevent
import pytest
from gevent.event import Event
from pydantic import BaseModel

from crawler.data import Request, Response
from crawler.errors import FetchError, StateError
from crawler.frontier import BloomSeen
from crawler.middleware import (
    CallbackRules,
    CanonicalizeUrl,
    Depth,
    Duplicates,
    ItemIds,
    NewsFeedLinkExtractor,
    Offsite,
    Referer,
    RegexLinkExtractor,
    RobotsTxt,
    SelectorMap,
    SpiderChain,
    UrlLength,
)
from crawler.middleware.spider.item_ids import stable_hash
from crawler.middleware.spider.referer import referrer
from crawler.testing import Reply, Site

HOME = "http://site.test/"
PAGE = Response(HOME, 200)


class Spider:
    """A spider with the attributes it is given."""

    def __init__(self, **attributes):
        vars(self).update(attributes)

    def parse(self, response):
        return None

    def parse_product(self, response):
        return None

    def parse_category(self, response):
        return None


def opened(*middlewares, **attributes):
    chain = SpiderChain(middlewares, Spider(**attributes))
    chain.open()
    return chain


def html(text, url=HOME, **headers):
    return Response(url, 200, {"content-type": "text/html; charset=utf-8"} | headers, text.encode())


def xml(text, content_type="application/rss+xml; charset=utf-8"):
    return Response(HOME + "feed", 200, {"content-type": content_type}, text.encode())


def urls(chain, response):
    return [request.url for request in chain.response(response, lambda _: None)]


def passed(chain, url, response=PAGE):
    """Return the request that comes of *url* found on a page, or None."""
    found = list(chain.response(response, lambda _: url))
    return found[0] if found else None


# -- RegexLinkExtractor ------------------------------------------------------------------------

SHOP = """<base href="/shop/"><a href="product.php?id=1">1</a> <a href=" product.php?id=2 ">2</a>
<area href="/category.php"><a href="#top">top</a><a>none</a><a href="http://[">bad</a>
<a href="/about">about</a>"""


def test_links_are_followed_in_which_a_pattern_is_found():
    chain = opened(RegexLinkExtractor, url_regexes_to_follow=[r"/product\.php\?.*", "category"])

    assert urls(chain, html(SHOP)) == [
        HOME + "shop/product.php?id=1",
        HOME + "shop/product.php?id=2",
        HOME + "category.php",
    ]


def test_patterns_that_are_given_go_before_those_of_the_spider():
    chain = opened(RegexLinkExtractor(["about"]), url_regexes_to_follow=["product"])

    assert urls(chain, html(SHOP)) == [HOME + "about"]


@pytest.mark.parametrize(
    ("content_type", "number"),
    [("text/html", 1), ("application/xhtml+xml; charset=x", 1), ("", 1), ("text/plain", 0)],
)
def test_only_html_has_links(content_type, number):
    headers = {"content-type": content_type} if content_type else {}
    response = Response(HOME, 200, headers, b"<a href=/a>a</a>")

    assert len(urls(opened(RegexLinkExtractor([""])), response)) == number


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({}, "RegexLinkExtractor needs url_regexes_to_follow"),
        ({"url_regexes_to_follow": "product"}, "must be a list, not just 'product'"),
        ({"url_regexes_to_follow": ["(product"]}, "is not a regular expression"),
    ],
)
def test_patterns_that_cannot_be_meant_are_errors_at_the_start(attributes, reason):
    with pytest.raises(ValueError, match=reason):
        opened(RegexLinkExtractor, **attributes)


# -- NewsFeedLinkExtractor -------------------------------------------------------------------------

RSS = """<?xml version="1.0"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<title>News</title><link>http://site.test/</link>
<atom:link rel="self" href="http://site.test/feed"/>
<item><title>One&nbsp;1</title><link> http://site.test/1?a=1&amp;b=2 </link></item>
<item><title>Two</title><link><![CDATA[/2]]></link><media:group undeclared="yes"/></item>
<item><title>None</title><link/></item>
</channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://site.test/"/>
<entry><link rel="edit" href="/edit"/><link href="/a"/></entry>
<entry><link rel="alternate" href="/b"/><link rel="enclosure" href="/b.mp3"/></entry></feed>"""
RDF = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
xmlns="http://purl.org/rss/1.0/"><channel><link>http://site.test/</link></channel>
<item><link>http://site.test/r</link></item></rdf:RDF>"""


@pytest.mark.parametrize(
    ("text", "found"),
    [(RSS, ["1?a=1&b=2", "2"]), (ATOM, ["a", "b"]), (RDF, ["r"])],
    ids=["rss", "atom", "rdf"],
)
@pytest.mark.parametrize(
    "content_type", ["application/rss+xml; charset=utf-8", "Text/XML", "application/atom+xml"]
)
def test_the_items_of_a_feed_are_followed(text, found, content_type):
    chain = opened(NewsFeedLinkExtractor)

    assert urls(chain, xml(text, content_type)) == [HOME + path for path in found]


def test_a_feed_is_read_in_its_own_encoding():
    text = '<?xml version="1.0" encoding="iso-8859-1"?><rss><item><link>/ü</link></item></rss>'
    response = Response(HOME, 200, {"content-type": "text/xml"}, text.encode("latin-1"))

    assert urls(opened(NewsFeedLinkExtractor), response) == [HOME + "%C3%BC"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no xml",
        "<urlset><url><loc>http://site.test/</loc></url></urlset>",
        "<!DOCTYPE html><html><item><link>/a</link></item><br></html>",
        "<html><item><link>/a</link></item>",
        "<!DOCTYPE svg [<!ENTITY a 'a'>]><svg/>",
    ],
)
def test_what_is_no_feed_gives_nothing_and_fails_nothing(text):
    assert urls(opened(NewsFeedLinkExtractor), xml(text, "text/xml")) == []


def test_a_page_of_html_is_no_feed():
    assert urls(opened(NewsFeedLinkExtractor), html(RSS)) == []


def collect(flow):
    found = []
    try:
        for each in flow:
            found.append(each)
    except Exception as error:
        return found, error
    return found, None


def test_of_a_broken_feed_what_stands_before_the_break_is_followed():
    text = "<rss><item><link>/1</link></item><item><link>/2</link></oops>"

    found, error = collect(opened(NewsFeedLinkExtractor).response(xml(text), lambda _: None))

    assert [request.url for request in found] == [HOME + "1", HOME + "2"]
    assert error is None


@pytest.mark.parametrize(
    "declared",
    [
        '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">',
        '<!ENTITY a SYSTEM "file:///etc/passwd">',
        '<!ENTITY % a SYSTEM "http://other.test/">',
    ],
)
def test_entities_a_feed_declares_are_not_unfolded(declared):
    text = f"<!DOCTYPE rss [{declared}]><rss><item><link>/&a;</link></item></rss>"

    found, error = collect(opened(NewsFeedLinkExtractor).response(xml(text), lambda _: None))

    assert [request.url for request in found] == [HOME + "&a;"]
    assert error is None


def test_a_long_feed_gives_its_first_links_before_it_is_read_to_the_end():
    items = "".join(f"<item><link>/{n}</link></item>" for n in range(20_000))
    flow = opened(NewsFeedLinkExtractor).response(xml(f"<rss>{items}</rss>"), lambda _: None)

    assert next(flow).url == HOME + "0"
    assert sum(1 for _ in flow) == 19_999


# -- CallbackRules -----------------------------------------------------------------------------

RULES = {r"/product\.php": "parse_product", r"/\w+\.php": "parse_category"}


@pytest.mark.parametrize(
    ("url", "callback"),
    [("/product.php?id=1", "parse_product"), ("/category.php", "parse_category"), ("/", None)],
)
def test_the_first_rule_that_fits_chooses_the_callback(url, callback):
    chain = opened(CallbackRules, callback_rules=RULES)

    assert passed(chain, url).callback == callback
    assert chain.request(HOME + url[1:]).callback == callback


def test_a_callback_of_its_own_is_kept():
    chain = opened(CallbackRules(RULES))

    assert passed(chain, Request(HOME + "product.php", callback="parse")).callback == "parse"


@pytest.mark.parametrize("name", ["parse_prodct", "__init__", "callback_rules"])
def test_a_rule_for_no_method_of_the_spider_is_an_error_at_the_start(name):
    with pytest.raises(ValueError, match=f"Spider has no method '{name}'"):
        opened(CallbackRules, callback_rules={"/": name})


# -- CanonicalizeUrl ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rules", "url", "canonical"),
    [
        (["normalize-percent-encoding"], "/%7ea?b=2&a=%c3%bc#top", "~a?b=2&a=%C3%BC"),
        (["sort-query-args"], "/?b=2&a=1", "?a=1&b=2"),
        (["sort-query-args", "drop-tracking-args"], "/?utm_source=x&b=2&a=1", "?a=1&b=2"),
        ([], "/a?b=2&a=1", "a?b=2&a=1"),
    ],
)
def test_urls_are_made_canonical_by_the_rules_named(rules, url, canonical):
    chain = opened(CanonicalizeUrl, canonicalization_rules=rules)

    assert passed(chain, url).url == HOME + canonical


def test_what_is_no_url_cannot_be_made_canonical_and_passes():
    assert passed(opened(CanonicalizeUrl([])), "http://[").url == "http://["


def test_a_rule_nobody_knows_is_an_error_at_the_start():
    with pytest.raises(ValueError, match="'sort' is not one of normalize-percent-encoding"):
        opened(CanonicalizeUrl(["sort"]))


# -- ItemIds -----------------------------------------------------------------------------------


def item_of(item, *fields, target="id"):
    [found] = opened(ItemIds(target, fields)).response(PAGE, lambda _: item)
    return found


def test_an_id_is_made_of_the_fields_named():
    chain = opened(ItemIds, id_field="guid", id_fields_to_hash=["supplier_name", "supplier_id"])
    given = {"supplier_name": "Acme", "supplier_id": 7, "price": 1}

    [item] = chain.response(PAGE, lambda _: given)

    assert item == given | {"guid": "e112247ab8b0d0f86c32f1e5b78449be"}
    assert "guid" not in given


def test_an_id_is_the_same_in_every_process():
    script = "from crawler.middleware.spider.item_ids import stable_hash; print(stable_hash({'a': ['x', 1]}))"

    printed = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, env={"PYTHONHASHSEED": "7"}
    )

    assert printed.stdout.decode().strip() == stable_hash({"a": ["x", 1]})


def test_different_values_have_different_ids():
    moment = datetime(2024, 1, 2, tzinfo=UTC)
    values = [
        {"a": "xy", "b": "z"}, {"a": "x", "b": "yz"}, {"a": "x"}, {"b": "x"}, {"a": b"x"},
        {"a": 1}, {"a": "1"}, {"a": 1.0}, {"a": True}, {"a": None}, {"a": "None"}, {"a": ""},
        {"a": []}, {"a": [1, 2]}, {"a": [[1], 2]}, {"a": [12]}, {"a": {"1": 2}}, {"a": {1: 2}},
        {"a": Decimal(1)}, {"a": date(2024, 1, 2)}, {"a": moment}, {"a": str(moment)},
        {"a": UUID(int=1)}, {"a": ["x", "y"]}, {"a": ["xy"]}, {"a": "\ud800"},
    ]  # fmt: skip

    assert len({stable_hash(value) for value in values}) == len(values)


def test_the_order_of_fields_makes_no_difference_nor_does_list_or_tuple():
    assert stable_hash({"a": 1, "b": 2}) == stable_hash({"b": 2, "a": 1})
    assert stable_hash([1, 2]) == stable_hash((1, 2))


@dataclass(frozen=True)
class Point:
    x: int
    id: str = ""


@attrs.frozen
class Place:
    x: int
    id: str = ""


class Product(BaseModel):
    x: int
    id: str = ""


@pytest.mark.parametrize("kind", [Point, Place, Product])
def test_items_of_every_kind_get_an_id_and_the_given_one_is_left_alone(kind):
    given = kind(x=1)

    found = item_of(given, "x")

    assert found.id == stable_hash({"x": 1})
    assert found == kind(x=1, id=found.id)
    assert given.id == ""


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({"y": 1}, "the item has no field 'x' to make its id of"),
        (Point(1), "the item has no field 'guid' for its id"),
        ({"x": object()}, "object has no one form"),
        ({"x": {1, 2}}, "set has no one form"),
    ],
)
def test_an_item_no_id_can_be_made_for_is_dropped_and_reported(item, reason):
    found, error = collect(opened(ItemIds("guid", ["x"])).response(PAGE, lambda _: [item]))

    assert found == []
    assert reason in str(error)


@pytest.mark.parametrize(("target", "fields"), [("id", []), ("id", "name"), ("id", ["id"])])
def test_fields_that_cannot_be_meant_are_errors_at_the_start(target, fields):
    with pytest.raises(ValueError, match="id_fields_to_hash"):
        opened(ItemIds(target, fields))


# -- RobotsTxt ---------------------------------------------------------------------------------

NO_SECRETS = Reply(
    headers={"content-type": "text/plain"},
    body="User-agent: *\nDisallow: /secret\nUser-agent: friend\nAllow: /",
)


def obedient(site, **options):
    return opened(RobotsTxt(fetch=site, **options))


def test_what_robots_txt_forbids_is_dropped_and_the_file_fetched_once():
    site = Site({"/robots.txt": NO_SECRETS})
    chain = obedient(site)

    assert passed(chain, "/open").url == HOME + "open"
    assert passed(chain, "/secret/1") is None
    assert chain.request(HOME + "secret/2") is None
    assert [request.url for request in site.requests] == [HOME + "robots.txt"]


def test_the_rules_are_those_for_the_agent_of_the_spider():
    site = Site({"/robots.txt": NO_SECRETS})

    assert passed(obedient(site, agent="Friend/2.0"), "/secret") is not None
    assert passed(opened(RobotsTxt(fetch=site), user_agent="friend"), "/secret") is not None


def test_each_origin_has_its_own_rules():
    site = Site({"/robots.txt": NO_SECRETS, "http://site.test:8080/robots.txt": "Disallow:"})
    chain = obedient(site)

    assert passed(chain, "/secret") is None
    assert passed(chain, "http://site.test:8080/secret") is not None


def test_all_who_wait_for_one_origin_wait_for_one_fetch():
    gate = Event()

    def slow(request):
        gate.wait()
        return NO_SECRETS

    site = Site({"/robots.txt": slow, "http://other.test/robots.txt": "Disallow:"})
    chain = obedient(site)
    waiting = [gevent.spawn(passed, chain, path) for path in ("/a", "/secret", "/b", "/secret/x")]
    gevent.idle()

    assert passed(chain, "http://other.test/") is not None
    assert not any(greenlet.ready() for greenlet in waiting)
    gate.set()
    verdicts = [greenlet.get() for greenlet in waiting]

    assert [verdict is not None for verdict in verdicts] == [True, False, True, False]
    assert len(site.requests) == 2


def test_who_waits_lets_the_crawl_know():
    now = []

    @contextmanager
    def waiting():
        now.append("waits")
        yield
        now.append("goes on")

    site = Site({"/robots.txt": Reply(404, delay=0.01)})
    chain = opened(RobotsTxt(fetch=site), waiting=waiting)
    gevent.joinall([gevent.spawn(passed, chain, path) for path in ("/a", "/b")])

    assert now == ["waits", "goes on"]


def test_if_the_one_who_asks_is_ended_another_asks_instead():
    calls = []

    def held_once(request):
        calls.append(request)
        if len(calls) == 1:
            gevent.sleep(60)
        return NO_SECRETS

    chain = obedient(Site({"/robots.txt": held_once}))
    first, *others = [gevent.spawn(passed, chain, path) for path in ("/a", "/b", "/secret")]
    gevent.idle()
    first.kill()

    assert others[0].get().url == HOME + "b"
    assert others[1].get() is None
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("answer", "is_allowed"),
    [
        (Reply(404), True),
        (Reply(403), True),
        (Reply(429), False),
        (Reply(500), False),
        (FetchError("dns", "no such host"), False),
        (ConnectionError("refused"), False),
        (Reply(301, {"location": "/other.txt"}), False),
        (Reply(301, {"location": "/robots.txt"}), True),
        (Reply(302, {"location": "http://["}), True),
    ],
)
def test_no_file_allows_all_and_no_answer_nothing(answer, is_allowed):
    site = Site({"/robots.txt": answer, "/other.txt": NO_SECRETS})
    chain = obedient(site)

    assert (passed(chain, "/secret") is not None) is is_allowed
    assert (passed(chain, "/secret") is not None) is is_allowed


def test_robots_txt_itself_and_what_is_not_http_need_no_leave():
    site = Site({})
    chain = obedient(site)

    for url in ("/robots.txt", "mailto:me@site.test", "http://["):
        assert passed(chain, url) is not None
    assert site.requests == []


def test_the_fetch_of_the_spider_is_used_unless_another_is_given():
    site = Site({"/robots.txt": NO_SECRETS})
    chain = opened(RobotsTxt, fetch=site)

    assert passed(chain, "/secret") is None
    [asked] = site.requests
    assert asked.dont_filter


def test_before_the_crawl_has_begun_nothing_is_decided():
    def not_yet(request):
        raise StateError("not yet")

    fetch = SimpleNamespace(now=not_yet)
    chain = opened(RobotsTxt, fetch=lambda request: fetch.now(request))

    with pytest.raises(Exception, match="not yet"):
        chain.request(HOME)
    fetch.now = Site({"/robots.txt": NO_SECRETS})

    assert chain.request(HOME) is not None


# -- Offsite -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "follows"),
    [
        ("http://example.com/", True),
        ("https://EXAMPLE.com:8080/", True),
        ("http://a.b.example.com./", True),
        ("http://sub.other.org/", True),
        ("http://other.org/", False),
        ("http://badexample.com/", False),
        ("http://examplexcom/", False),
        ("http://example.com.evil.test/", False),
        ("http://example.com@evil.test/", False),
        ("javascript:alert(1)", False),
        ("http://[", False),
        ("http://bücher.test/", True),
    ],
)
def test_hosts_are_those_allowed_and_those_below(url, follows):
    chain = opened(Offsite, allowed_domains=["Example.com", "sub.other.org", "bücher.test"])

    assert (passed(chain, url) is not None) is follows
    assert (chain.request(url) is not None) is follows


def test_without_domains_all_hosts_are_allowed():
    assert passed(opened(Offsite, allowed_domains=[]), "http://any.test/") is not None


def test_each_host_is_told_of_once(caplog):
    caplog.set_level(logging.INFO)
    chain = opened(Offsite(["site.test"]))

    for url in ("http://a.test/1", "http://a.test/2", "http://b.test/"):
        assert passed(chain, url) is None

    assert [record.args[0] for record in caplog.records] == ["a.test", "b.test"]


def test_another_policy_can_be_written():
    class SameSuffix(Offsite):
        def follows(self, host, spider):
            return host.endswith(".test")

    chain = opened(SameSuffix([]))

    assert passed(chain, "http://a.test/") is not None
    assert passed(chain, "http://a.example/") is None


@pytest.mark.parametrize("wrong", [["http://a.test/"], ["a.test:80"], ["*.a.test"], [""], "a.test"])
def test_what_is_no_domain_is_an_error_at_the_start(wrong):
    with pytest.raises(ValueError, match="allowed"):
        opened(Offsite(wrong))


# -- UrlLength and Depth -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limit", "passes"), [(len(HOME) + 9, True), (len(HOME) + 8, False), (0, True)]
)
def test_long_urls_are_dropped(limit, passes):
    chain = opened(UrlLength(limit))

    assert (passed(chain, "/123456789") is not None) is passes
    assert (chain.request(HOME + "123456789") is not None) is passes


@pytest.mark.parametrize(("limit", "passes"), [(3, True), (2, False), (0, True)])
def test_what_is_too_far_from_the_start_is_dropped(limit, passes):
    deep = Response(HOME, 200, request=Request(HOME, depth=2))

    assert (passed(opened(Depth(limit)), "/a", deep) is not None) is passes


def test_depth_is_counted_from_the_first_requests():
    middleware = Depth()
    deep = Response(HOME, 200, request=Request(HOME, depth=2))

    assert opened(middleware).request(HOME).depth == 0
    assert middleware.process_request(request=Request(HOME), response=deep, spider=None).depth == 3


def test_depth_holds_for_what_an_error_leads_to():
    chain = opened(Depth(2))
    failure = FetchError("dns", "")

    assert list(chain.error(failure, Request(HOME, depth=2), lambda _: "/a")) == []
    assert len(list(chain.error(failure, Request(HOME, depth=1), lambda _: "/a"))) == 1


@pytest.mark.parametrize("kind", [UrlLength, Depth])
@pytest.mark.parametrize("wrong", [-1, None, True, 2.5])
def test_a_limit_is_a_whole_number(kind, wrong):
    with pytest.raises(ValueError, match="must be a whole number"):
        kind(wrong)


# -- Referer -----------------------------------------------------------------------------------

SECURE = "https://user:pass@site.test/a?b=1#c"
PLAIN = "http://site.test/a?b=1"
SAME = "https://site.test/x"
CROSS = "https://other.test/"
DOWN = "http://other.test/"
WHOLE, ORIGIN = "https://site.test/a?b=1", "https://site.test/"


@pytest.mark.parametrize(
    ("policy", "same", "cross", "down"),
    [
        ("no-referrer", "", "", ""),
        ("no-referrer-when-downgrade", WHOLE, WHOLE, ""),
        ("same-origin", WHOLE, "", ""),
        ("origin", ORIGIN, ORIGIN, ORIGIN),
        ("strict-origin", ORIGIN, ORIGIN, ""),
        ("origin-when-cross-origin", WHOLE, ORIGIN, ORIGIN),
        ("strict-origin-when-cross-origin", WHOLE, ORIGIN, ""),
        ("unsafe-url", WHOLE, WHOLE, WHOLE),
    ],
)
def test_every_policy_tells_what_the_standard_says(policy, same, cross, down):
    told = [referrer(policy, SECURE, target) for target in (SAME, CROSS, DOWN)]

    assert told == [same, cross, down]


@pytest.mark.parametrize(
    ("page", "target", "told"),
    [
        (PLAIN, DOWN, "http://site.test/"),
        (PLAIN, "http://site.test:8080/", "http://site.test/"),
        (SECURE, "http://localhost:8000/", ORIGIN),
        (SECURE, "http://127.0.0.1/", ORIGIN),
        (SECURE, "http://127.evil.test/", ""),
        ("http://localhost/a", DOWN, ""),
        ("about:blank", CROSS, ""),
        ("http://[", CROSS, ""),
        (SECURE, "http://[", ""),
        ("https://site.test/" + "a" * 5000, SAME, ORIGIN),
    ],
)
def test_the_default_policy_at_its_edges(page, target, told):
    assert referrer("strict-origin-when-cross-origin", page, target) == told


def referer_of(request, response, **options):
    return passed(opened(Referer(**options)), request, response).headers.get("referer")


def test_a_request_tells_the_page_it_was_found_on():
    assert referer_of("/x", html("", SECURE)) == WHOLE
    assert referer_of(DOWN, html("", SECURE)) is None
    assert referer_of("/x", html("", SECURE), policy="origin") == ORIGIN


def test_a_referer_it_has_already_is_kept_and_a_first_request_has_none():
    own = Request(SAME, headers={"rEFERER": "http://me.test/", "accept": "*/*"})

    assert referer_of(own, html("", SECURE)) == "http://me.test/"
    assert "referer" not in opened(Referer).request(HOME).headers


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ("origin", ORIGIN),
        ("Origin", ORIGIN),
        ("no-referrer, origin", ORIGIN),
        ("origin, some.module.Policy", ORIGIN),
        ("some.module.Policy", WHOLE),
        ("os.system", WHOLE),
        ("", WHOLE),
        ("no-referrer", None),
    ],
)
def test_a_policy_of_the_page_is_looked_up_in_the_list_and_nowhere_else(named, told):
    response = html("", SECURE, **{"referrer-policy": named})

    assert referer_of("/x", response) == told


def test_a_policy_nobody_knows_is_an_error():
    with pytest.raises(ValueError, match="policy must be one of no-referrer"):
        Referer("sometimes")


# -- Duplicates --------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"make_seen": BloomSeen}])
def test_a_request_passes_once(options):
    chain = opened(Duplicates(**options))

    assert passed(chain, "/a#top") is not None
    assert passed(chain, "/a") is None
    assert chain.request(HOME + "%61") is None
    assert passed(chain, Request(HOME + "a", method="POST", body=b"x")) is not None


def test_dont_filter_passes_and_leaves_no_trace():
    chain = opened(Duplicates)
    again = Request(HOME + "a", dont_filter=True)

    assert passed(chain, again) is not None
    assert passed(chain, again) is not None
    assert passed(chain, "/a") is not None
    assert passed(chain, again) is not None


def test_each_crawl_has_a_set_of_its_own():
    shared = Duplicates()

    assert passed(opened(shared), "/a") is not None
    assert passed(opened(shared), "/a") is not None


def test_what_is_no_url_is_for_the_frontier_to_refuse():
    chain = opened(Duplicates)

    assert passed(chain, "http://[") is not None
    assert passed(chain, "http://[") is not None


def test_a_chain_that_was_not_opened_says_so():
    with pytest.raises(Exception, match="Duplicates was not opened for"):
        SpiderChain([Duplicates], Spider()).request(HOME)


# -- SelectorMap -------------------------------------------------------------------------------

PRODUCT = """<h1> A <b>fine</b>
 thing </h1><p class=price>12 €</p><a class=tag href=/a>a</a><a class=tag href=/b>b</a>"""


def test_one_item_is_made_of_a_page_by_css_and_xpath():
    chain = opened(
        SelectorMap(
            {
                "name": "h1",
                "raw": "h1::text",
                "price": "//p[@class='price']/text()",
                "second": "(//a)[2]/@href",
                "tags": ["a.tag"],
                "links": ("a.tag::attr(href)",),
                "stock": ".stock",
                "sizes": [".size"],
            }
        )
    )

    assert list(chain.response(html(PRODUCT), lambda _: None)) == [
        {
            "name": "A fine thing",
            "raw": " A ",
            "price": "12 €",
            "second": "/b",
            "tags": ["a", "b"],
            "links": ["/a", "/b"],
            "stock": None,
            "sizes": [],
        }
    ]


@pytest.mark.parametrize("page", [html("<p>no product"), html(""), xml("<h1>1</h1>", "text/plain")])
def test_a_page_without_any_of_the_fields_gives_no_item(page):
    chain = opened(SelectorMap({"name": "h1", "tags": [".tag"]}))

    assert list(chain.response(page, lambda _: None)) == []


@pytest.mark.parametrize(
    "fields", [{"name": "h1["}, {"name": "//h1["}, {"name": "h1::attr(", "other": "h1"}]
)
def test_a_wrong_selector_is_an_error_at_the_start(fields):
    with pytest.raises(ValueError, match=r"name: .* is not a selector"):
        opened(SelectorMap(fields))


@pytest.mark.parametrize("fields", [{}, {"name": 5}, {"name": ["a", "b"]}, {"name": []}])
def test_fields_are_selectors_or_lists_of_one(fields):
    with pytest.raises(ValueError):
        SelectorMap(fields)


def test_parsel_is_imported_when_it_is_needed():
    script = """import sys
import crawler.middleware
from crawler.middleware.spider.selector_map import SelectorMap
SelectorMap({"a": "b"})
assert "parsel" not in sys.modules and "lxml" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)


# -- together ----------------------------------------------------------------------------------


class Shop(Spider):
    """The example of SEP-018."""

    middlewares = [RegexLinkExtractor(), CallbackRules(), CanonicalizeUrl(), ItemIds(), Offsite()]
    allowed_domains = ["site.test"]
    url_regexes_to_follow = [r"/product\.php\?.*", r"/category\.php"]
    callback_rules = {r"/product\.php.*": "parse_product", r"/category\.php.*": "parse_category"}
    canonicalization_rules = ["sort-query-args", "normalize-percent-encoding"]
    id_field = "guid"
    id_fields_to_hash = ["supplier_name", "supplier_id"]

    def parse_product(self, response):
        return {"supplier_name": response.url, "supplier_id": 1}

    def parse_category(self, response):
        return {"supplier_name": "category", "supplier_id": 2}


def test_the_example_of_the_proposal_crawls_a_shop(crawl):
    link = '<a href="{}">.</a>'.format
    site = Site(
        {
            "/": link("/category.php") + link("/about") + link("http://other.test/product.php?x"),
            "/category.php": link("/product.php?b=2&a=1") + link("/product.php?a=1&b=2"),
            "/product.php": "a product",
        }
    )
    spider, items = Shop(), []
    chain = SpiderChain(spider.middlewares, spider)

    def parse(response):
        method = getattr(spider, response.request.callback or "parse")
        for found in chain.response(response, method):
            if isinstance(found, dict):
                items.append(found)
            yield found

    chain.open()
    summary, errors = crawl(chain.request(HOME), site, parse=parse)
    chain.close()

    assert not errors
    assert sorted(request.url for request in site.requests) == [
        HOME,
        HOME + "category.php",
        HOME + "product.php?a=1&b=2",
    ]
    assert sorted(item["supplier_name"] for item in items) == [
        "category",
        HOME + "product.php?a=1&b=2",
    ]
    assert len({item["guid"] for item in items}) == 2
    assert chain.figures["Offsite", "process_request"].drops == 1
    assert summary.urls.done == 3
