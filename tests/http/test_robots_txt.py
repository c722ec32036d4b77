import re
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.errors import InvalidURL
from crawler.http.robots_txt import Robots

from ..cpu_time import costs_at_most, takes_at_most

SITE = "http://example.org"


def allowed(body, path, agent="FooBot"):
    text = body.encode() if isinstance(body, str) else body
    return Robots.parse(text).allowed(agent, SITE + path)


def for_all(*rules):
    return "\n".join(["User-agent: *", *rules])


@pytest.mark.parametrize(
    ("body", "agent", "expected"),
    [
        # no group for the agent, and no group for all agents
        ("", "FooBot", True),
        ("User-agent: BarBot\nDisallow: /", "FooBot", True),
        # the whole token is compared, case-insensitively
        ("User-agent: FooBot\nDisallow: /", "FooBot", False),
        ("User-agent: fOObOT\nDisallow: /", "FooBot", False),
        ("User-agent: FooBot\nDisallow: /", "FOOBOT", False),
        ("User-agent: Foo\nDisallow: /", "FooBot", True),
        ("User-agent: FooBot\nDisallow: /", "Foo", True),
        ("User-agent: FooBot-News\nDisallow: /", "FooBot", True),
        ("User-agent: FooBot-News\nDisallow: /", "foobot-news", False),
        ("User-agent: Foo_Bot\nDisallow: /", "foo_bot", False),
        # it ends before the first character that is not a letter, "_" or "-"
        ("User-agent: FooBot/2.1\nDisallow: /", "FooBot", False),
        ("User-agent: FooBot Images\nDisallow: /", "FooBot", False),
        ("User-agent: FooBot*\nDisallow: /", "FooBot", False),
        ("User-agent: FooBot\nDisallow: /", "FooBot/1.0 (+http://example.org/)", False),
        ("User-agent: 4FooBot\nDisallow: /", "FooBot", True),
        ("User-agent: 4\nDisallow: /", "4", True),
        ("User-agent: 4\nDisallow: /", "", True),
        ("User-agent:\nDisallow: /", "", True),
        # the group for all agents is for agents without their own group
        ("User-agent: *\nDisallow: /", "FooBot", False),
        ("User-agent: *\nDisallow: /", "", False),
        ("User-agent: * \t\nDisallow: /", "FooBot", False),
        ("User-agent: * and more\nDisallow: /", "FooBot", False),
        ("User-agent: *bot\nDisallow: /", "FooBot", True),
        ("User-agent: *\nDisallow: /\nUser-agent: FooBot\nDisallow:", "FooBot", True),
        ("User-agent: FooBot\nDisallow:\nUser-agent: *\nDisallow: /", "FooBot", True),
        ("User-agent: FooBot\nAllow: /\n\nUser-agent: *\nDisallow: /", "BarBot", False),
        ("User-agent: *\nAllow: /\n\nUser-agent: FooBot\nDisallow: /", "FooBot", False),
        ("User-agent: *\nDisallow: /\nUser-agent: FooBot\n", "FooBot", True),
        # several agents share the rules below them, blank lines or not
        ("User-agent: A\nUser-agent: FooBot\nUser-agent: B\nDisallow: /", "FooBot", False),
        ("User-agent: FooBot\n\n\nUser-agent: B\n\nDisallow: /", "FooBot", False),
        ("User-agent: FooBot\nUser-agent: *\nDisallow: /", "FooBot", False),
        ("User-agent: FooBot\nSitemap: x\nUser-agent: B\nDisallow: /", "FooBot", False),
        ("User-agent: FooBot\nNoindex: x\nUser-agent: B\nDisallow: /", "FooBot", False),
        ("User-agent: FooBot\nCrawl-delay: 1\nUser-agent: B\nDisallow: /", "FooBot", False),
        ("User-agent: FooBot\nDisallow:\nUser-agent: B\nDisallow: /", "FooBot", True),
        ("User-agent: FooBot\nAllow: /x\nUser-agent: B\nDisallow: /", "FooBot", True),
        # other records do not end a group
        ("User-agent: FooBot\nSitemap: x\nDisallow: /", "FooBot", False),
        ("User-agent: FooBot\nUnknown: x\nnonsense\nDisallow: /", "FooBot", False),
        # rules before the first agent are ignored
        ("Disallow: /\nUser-agent: BarBot\nDisallow: /x", "FooBot", True),
        ("Disallow: /\nUser-agent: FooBot\nAllow: /x", "FooBot", True),
        # groups of one agent are one group
        ("User-agent: FooBot\nAllow: /x\nUser-agent: foobot/2\nDisallow: /", "FooBot", False),
        ("User-agent: *\nAllow: /x\nUser-agent: *\nDisallow: /", "FooBot", False),
    ],
)
def test_which_group_speaks_to_an_agent(body, agent, expected):
    assert expected == allowed(body, "/page", agent)


def test_groups_of_one_agent_are_merged_across_others():
    body = "User-agent: A\nDisallow: /1\nUser-agent: B\nDisallow: /2\nUser-agent: a\nDisallow: /3"

    assert [allowed(body, path, "A") for path in ("/1", "/2", "/3")] == [False, True, False]
    assert [allowed(body, path, "B") for path in ("/1", "/2", "/3")] == [True, False, True]


@pytest.mark.parametrize(
    ("line", "path", "expected"),
    [
        ("Disallow: /x", "/x", False),
        ("disallow:/x", "/x", False),
        ("DISALLOW \t:\t /x \t", "/x", False),
        ("  Disallow: /x", "/x", False),
        ("Disallow: /x # why", "/x", False),
        ("Disallow: /x#y", "/x", False),
        ("Disallow: # /x", "/x", True),
        ("# Disallow: /x", "/x", True),
        ("Disallow:", "/x", True),
        ("Allow:", "/x", True),
        # without a colon, if there are just two words
        ("Disallow /x", "/x", False),
        ("Disallow\t \t/x", "/x", False),
        ("Disallow /x # why", "/x", False),
        ("Disallow /x y", "/x", True),
        ("Disallow/x", "/x", True),
        ("Disallow", "/x", True),
        # common misspellings
        ("Dissallow: /x", "/x", False),
        ("Dissalow: /x", "/x", False),
        ("Disalow: /x", "/x", False),
        ("Diasllow: /x", "/x", False),
        ("Disallaw: /x", "/x", False),
        ("Disallows: /x", "/x", True),
        ("Block: /x", "/x", True),
        (": /x", "/x", True),
        # a path starts with a slash, or a star
        ("Disallow: x", "/x", True),
        ("Disallow: http://example.org/x", "/x", True),
        ("Disallow: *x", "/x", False),
        # characters of the value
        ("Disallow: /a:b", "/a:b", False),
        ("Disallow: /a b", "/a%20b", False),
        ("Disallow: /a\0b", "/ab", False),
    ],
)
def test_how_a_line_is_read(line, path, expected):
    assert expected == allowed(for_all(line), path)


@pytest.mark.parametrize(
    "agent_line", ["useragent: FooBot", "User agent: FooBot", "User-agent FooBot"]
)
def test_spellings_of_the_line_of_an_agent(agent_line):
    assert not allowed(f"{agent_line}\nDisallow: /", "/x")


@pytest.mark.parametrize(
    "body",
    [
        b"User-agent: *\nDisallow: /x",
        b"User-agent: *\rDisallow: /x\r",
        b"User-agent: *\r\nDisallow: /x\r\n",
        b"\r\r\nUser-agent: *\n\r\n\rDisallow: /x\n",
        b"\xef\xbb\xbfUser-agent: *\nDisallow: /x",
        b"\xef\xbbUser-agent: *\nDisallow: /x",
        "User-agent: *\nDisallow: /x\n".encode("utf-16"),
        b"\0User-agent: *\0\nDis\0allow: /x\0",
        b"<html>\xff\xfe\n\x80:\x81\nUser-agent: *\nDisallow: /x",
        b"User-agent: *\x0b\nDisallow: /x\x0c",
    ],
)
def test_ends_of_lines_and_odd_bytes(body):
    assert not allowed(body, "/x")
    assert allowed(body, "/y")


def test_a_byte_order_mark_inside_spoils_only_its_line():
    assert allowed(b"User-agent: *\n\xef\xbb\xbfDisallow: /x\nDisallow: /y", "/x")
    assert not allowed(b"User-agent: *\n\xef\xbb\xbfDisallow: /x\nDisallow: /y", "/y")


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        # a pattern is a prefix and case-sensitive
        ("/", ["/", "/x", "/?q"], []),
        (
            "/fish",
            ["/fish", "/fish.html", "/fish/x", "/fishy", "/fish?id=1"],
            ["/Fish", "/a/fish", "/"],
        ),
        ("/fish/", ["/fish/", "/fish/x", "/fish/?id=1"], ["/fish", "/fish.html"]),
        # stars
        ("/fish*", ["/fish", "/fish.html", "/fishes"], ["/Fish", "/cat"]),
        ("/*.php", ["/index.php", "/a/b.php", "/a.php?x", "/a.phpx"], ["/", "/index.PHP"]),
        ("/fish*.php", ["/fish.php", "/fishes/cat.php?x"], ["/Fish.PHP", "/php/fish"]),
        ("*", ["/", "/x"], []),
        ("/*", ["/", "/x"], []),
        ("/a***b", ["/ab", "/axxb"], ["/ba"]),
        ("/*a*b*a", ["/aba", "/xaxbxa"], ["/ab", "/baab"]),
        ("/x*aba", ["/xaba", "/xababa"], ["/xab"]),
        ("/*?", ["/?", "/a?b"], ["/a"]),
        ("/a*/", ["/a/", "/ax/y"], ["/a", "/ab"]),
        # the end
        ("/fish$", ["/fish"], ["/fish/", "/fish?x", "/fishy"]),
        ("/$", ["/"], ["/x", "/?x"]),
        ("/*.php$", ["/a.php", "/a.php.php"], ["/a.php?x", "/a.php/", "/a.php5"]),
        ("/*$", ["/", "/x"], []),
        ("/a*$", ["/a", "/ab"], ["/b"]),
        ("/*ab*ab$", ["/abab", "/abxab"], ["/ab", "/xab", "/abb"]),
        ("/ab*b$", ["/abb", "/abxb"], ["/ab"]),
        ("$", [], ["/", "/x"]),
        # "$" elsewhere, and both signs escaped, are characters
        ("/a$b", ["/a$b", "/a$bc", "/a%24b"], ["/a"]),
        ("/a%24", ["/a$", "/a$b", "/a%24"], ["/a"]),
        ("/a-%2A.html", ["/a-*.html", "/a-%2a.html"], ["/a-x.html"]),
        ("/a$$", ["/a$"], ["/a", "/a$b"]),
        # escapes, in all spellings
        ("/foo/bar?baz=quz", ["/foo/bar?baz=quz"], ["/foo/bar"]),
        ("/foo?baz=https://a.b", ["/foo?baz=https://a.b"], ["/foo?baz=http://a.b"]),
        ("/foo?b=https%3a%2F%2fa.b", ["/foo?b=https%3A%2f%2Fa.b"], ["/foo"]),
        ("/foo/ツ", ["/foo/ツ", "/foo/%E3%83%84", "/foo/%e3%83%84x"], ["/foo/"]),
        ("/foo/%E3%83%84", ["/foo/ツ", "/foo/%e3%83%84"], ["/foo/%E3%83%85"]),
        ("/foo/%62%61%7A", ["/foo/baz", "/foo/%62az"], ["/foo/"]),
        ("/foo/baz", ["/foo/%62%61%7a"], ["/foo/%62%61"]),
        ("/à", ["/à", "/%C3%A0x"], ["/%C3"]),
        ("/%7euser", ["/~user", "/%7Euser"], ["/user"]),
        ("/a%2Fb", ["/a%2fb"], ["/a/b"]),
        ("/a/b", ["/a/b"], ["/a%2Fb"]),
        ("/100%", ["/100%", "/100%25"], ["/100"]),
        ("/it's<>", ["/it's<>", "/it%27s%3C%3E"], ["/its"]),
        ("/?it's", ["/?it's"], ["/?its"]),
        # the rest of the URL
        ("/x;y", ["/x;y", "/x;yz"], ["/x"]),
        ("/x", ["/x#y"], ["/#/x"]),
    ],
)
def test_patterns(pattern, matching, others):
    body = for_all(f"Disallow: {pattern}")

    assert [path for path in matching if allowed(body, path)] == []
    assert [path for path in others if not allowed(body, path)] == []


@pytest.mark.parametrize(
    ("rules", "path", "expected"),
    [
        # the longest match decides, in any order
        (["Allow: /p", "Disallow: /"], "/page", True),
        (["Disallow: /", "Allow: /p"], "/page", True),
        (["Disallow: /x/page.html", "Allow: /x/"], "/x/page.html", False),
        (["Allow: /x/page.html", "Disallow: /x/"], "/x/page.html", True),
        (["Allow: /x/page.html", "Disallow: /x/"], "/x/other", False),
        (
            ["Disallow: /example/page/disallowed.gif", "Allow: /example/page/"],
            "/example/page/",
            True,
        ),
        # at equal length, allow
        (["Disallow: /folder", "Allow: /folder"], "/folder/page", True),
        (["Allow: /folder", "Disallow: /folder"], "/folder/page", True),
        (["Allow: /page", "Disallow: /*.ph"], "/page.php5", True),
        # stars and the end count
        (["Allow: /page", "Disallow: /*.htm"], "/page.htm", False),
        (["Allow: /$", "Disallow: /"], "/", True),
        (["Allow: /$", "Disallow: /"], "/page.htm", False),
        (["Allow: /page", "Disallow: /page$"], "/page", False),
        (["Disallow: /x/page*", "Allow: /x/page.html"], "/x/page.html", True),
        # escapes count as octets
        (["Allow: /ツ", "Disallow: /%E3%83%84"], "/ツ", True),
        (["Allow: /ab", "Disallow: /%61*"], "/ab", True),
        (["Disallow: /%61%62", "Allow: /ab"], "/ab", True),
        # empty rules are ignored
        (["Disallow:", "Disallow: /x"], "/x", False),
        (["Allow:", "Disallow: /x"], "/x", False),
        (["Disallow: /x", "Disallow:"], "/x", False),
    ],
)
def test_which_rule_decides(rules, path, expected):
    assert expected == allowed(for_all(*rules), path)


def test_robots_txt_itself_is_always_allowed():
    assert Robots.DISALLOW_ALL.allowed("FooBot", f"{SITE}/robots.txt")
    assert Robots.DISALLOW_ALL.allowed("FooBot", f"{SITE}/robots.txt#x")
    assert not Robots.DISALLOW_ALL.allowed("FooBot", f"{SITE}/robots.txt.bak")
    assert not Robots.DISALLOW_ALL.allowed("FooBot", f"{SITE}/a/robots.txt")


def test_all_or_nothing():
    assert Robots.ALLOW_ALL.allowed("FooBot", SITE)
    assert not Robots.DISALLOW_ALL.allowed("FooBot", SITE)
    assert not Robots.DISALLOW_ALL.allowed("", f"{SITE}?")


def test_a_url_may_have_any_spelling_that_browsers_accept():
    robots = Robots.parse(for_all("Disallow: /private/").encode())

    for url in ("HTTP://u:p@EXAMPLE.org:80/x/../private/", "http:\\\\example.org\\private\\x"):
        assert not robots.allowed("FooBot", url)
    with pytest.raises(InvalidURL):
        robots.allowed("FooBot", "http://a b/")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", None),
        (for_all("Crawl-delay: 5"), 5.0),
        (for_all("crawl-delay : 0.5 # s"), 0.5),
        (for_all("Crawl-delay: .5"), 0.5),
        (for_all("Crawl-delay: 0"), 0.0),
        (for_all("Crawl-delay: 2", "Disallow: /", "Crawl-delay: 1"), 2.0),
        (for_all("Crawl-delay: -1"), None),
        (for_all("Crawl-delay: soon"), None),
        (for_all("Crawl-delay: nan"), None),
        (for_all("Crawl-delay: 1e3"), None),
        (for_all("Crawl-delay: 999999999"), 999999999.0),
        (for_all("Crawl-delay: " + "9" * 5000), float("inf")),
        (for_all("Crawl-delay: ."), None),
        (for_all("Crawl-delay: 5."), 5.0),
        (for_all("Crawl-delay:"), None),
        ("Crawl-delay: 5\n" + for_all("Disallow: /"), None),
        (for_all("Crawl-delay: 5") + "\nUser-agent: FooBot\nDisallow: /", None),
        (for_all("Crawl-delay: 5") + "\nUser-agent: FooBot\nCrawl-delay: 7", 7.0),
        ("User-agent: FooBot\nUser-agent: B\nCrawl-delay: 3", 3.0),
        ("User-agent: B\nCrawl-delay: 9\n\nUser-agent: *\nDisallow: /x", None),
        ("User-agent: FooBot\nCrawl-delay: 9\n\nUser-agent: *\nDisallow: /x", 9.0),
        ("User-agent: FooBot\nDisallow: /\nUser-agent: FooBot\nCrawl-delay: 4", 4.0),
    ],
)
def test_crawl_delay(body, expected):
    assert expected == Robots.parse(body.encode()).crawl_delay("FooBot/1.0")


def test_sitemaps_belong_to_no_group():
    body = (
        "Sitemap: https://example.org/1.xml\nUser-agent: BarBot\nSITEMAP:https://example.org/2.xml#x\n"
        "site-map: /é.xml\nSitemap: https://example.org/1.xml\nDisallow: /\n"
    )

    expected = ("https://example.org/1.xml", "https://example.org/2.xml", "/é.xml")
    assert expected == Robots.parse(body.encode()).sitemaps
    assert Robots.parse(b"Sitemap: \xff").sitemaps == ("\ufffd",)


def test_the_first_500_kib_are_read_to_the_end_of_a_line():
    start = b"User-agent: *\nDisallow: /first\n"
    last = b"Disallow: /last\n"
    filler = b"#" * (500 * 1024 - len(start) - len(last) - 1) + b"\n"
    body = start + filler + last + b"Disallow: /beyond\n"

    assert not allowed(body, "/first")
    assert not allowed(body, "/last")
    assert allowed(body, "/beyond")
    assert allowed(start + filler + b"Disallow: /lasting\n", "/lasting")
    assert allowed(b"Disallow: /" * 100_000, "/")


def test_repr():
    body = b"User-agent: a\nUser-agent: *\nDisallow: /\nSitemap: x"
    assert repr(Robots.parse(body)) == "<Robots for 2 agents, 1 sitemaps>"


LONG_PATH = "/" + "a" * 8000

HOSTILE = {
    "stars": for_all("Disallow: /" + "*a" * 250_000 + "b$"),
    "stars only": for_all("Disallow: /" + "*" * 500_000 + "b"),
    "repeating parts": for_all("Disallow: /*" + "a*aa" * 100_000 + "b"),
    "rules with stars": for_all(*[f"Disallow: /*a*a*a*{n}" for n in range(22_000)]),
    "rules": for_all(*[f"Disallow: /{n}" for n in range(30_000)]),
    "agents": "User-agent: a\n" * 17_000 + "Disallow: /x\n" * 20_000,
    "agents of all names": "".join(f"User-agent: {'x' * (n % 300)}_\n" for n in range(3000)),
    "delays among agents": "User-agent: *\nCrawl-delay: 1\n" * 17_000,
    "one line": "x" * 2_000_000,
    "colons": ":" * 2_000_000,
    "line ends": "\r\n" * 1_000_000,
    "blanks": "User-agent" + " " * 500_000 + ": *",
    "escapes": for_all("Disallow: /" + "%61" * 160_000),
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_cost_little(body):
    def ask():
        robots = Robots.parse(body.encode())
        for agent in ("a", "FooBot"):
            robots.allowed(agent, SITE + LONG_PATH)
            robots.crawl_delay(agent)

    assert takes_at_most(5, ask)


def match(rules, path):
    """Return a function that looks for the rule that concerns *path*."""
    robots = Robots.parse(for_all(*rules).encode())
    robots.allowed("a", SITE)
    return partial(robots.allowed, "a", SITE + path)


@pytest.mark.parametrize(
    "rules",
    [
        [f"Disallow: /*{n}x" for n in range(36_000)],
        [f"Disallow: /*a*a*a*{n}" for n in range(22_000)],
        [f"Disallow: /*{'a' * 97}ba*{n}" for n in range(4300)],
        [f"Disallow: /*{'a' * 497}ba*{n}" for n in range(980)],
        [f"Disallow: /{'*a' * 240}b{n}" for n in range(1000)],
    ],
    ids=["many", "many stars", "parts that almost match", "long parts", "more stars"],
)
def test_a_match_has_a_bound_whatever_the_rules(rules):
    """The measure is a file of a thousand short patterns, which is more than sites have."""
    path = "/" + "a" * 1999
    usual = match([f"Disallow: /*?sort{n}=" for n in range(1000)], path)

    assert costs_at_most(20, match(rules, path), usual)


def test_beyond_a_thousand_patterns_with_wildcards_the_rest_is_ignored():
    few = [f"Disallow: /*{n}x" for n in range(999)]
    robots = Robots.parse(
        for_all(*few, "Allow: /*x/ok", "Disallow: /*beyond", "Disallow: /plain").encode()
    )

    assert robots.ignored("a") == 1
    assert Robots.parse(for_all(*few).encode()).ignored("a") == 0
    assert not robots.allowed("a", f"{SITE}/998x")
    assert robots.allowed("a", f"{SITE}/998x/ok")
    assert robots.allowed("a", f"{SITE}/beyond")
    assert not robots.allowed("a", f"{SITE}/plain"), "a prefix is no pattern with wildcards"


def test_a_path_that_takes_too_much_work_to_match_is_disallowed():
    rules = [f"Disallow: /*{'a' * 700}b{n}" for n in range(100)]

    assert not allowed(for_all(*rules), "/" + "a" * 1999)
    assert allowed(for_all(*rules), "/" + "a" * 100)


@given(st.binary(max_size=200), st.text(st.characters(codec=None), max_size=10), st.text("/a*$%?"))
def test_no_file_makes_it_raise(body, agent, path):
    for text in (body, b"User-agent: *\nDisallow:" + body):
        robots = Robots.parse(text)
        assert robots.allowed(agent, f"{SITE}/{path}") in (True, False)
        assert robots.crawl_delay(agent) is None or robots.crawl_delay(agent) >= 0


def matches(pattern, path):
    """Match by trying everything: slow and obviously correct."""
    if not pattern:
        return True
    if pattern == "$":
        return not path
    if pattern[0] == "*":
        return any(matches(pattern[1:], path[place:]) for place in range(len(path) + 1))
    return bool(path) and path[0] == pattern[0] and matches(pattern[1:], path[1:])


patterns = st.builds("/{}{}".format, st.text("ab*/", max_size=6), st.sampled_from(["", "", "$"]))
paths = st.text("ab/", max_size=8).map("/{}".format)


@given(st.lists(st.tuples(st.booleans(), patterns), max_size=6), paths)
@example([(True, "/a"), (False, "/aaaaaa"), (False, "/a*")], "/a")
def test_matching_equals_trying_everything(rules, path):
    body = for_all(*[f"{'Allow' if allow else 'Disallow'}: {rule}" for allow, rule in rules])
    matching = [
        (len(re.sub(r"\*+", "*", rule)), allow) for allow, rule in rules if matches(rule, path)
    ]

    assert allowed(body, path) == max(matching, default=(0, True))[1]
