import pytest

from crawler.data import Request
from crawler.middleware import Referer
from crawler.middleware.spider.referer import referrer

from .chains import HOME, html, opened, passed

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
    sent = [referrer(policy, SECURE, target) for target in (SAME, CROSS, DOWN)]

    assert sent == [same, cross, down]


@pytest.mark.parametrize(
    ("page", "target", "sent"),
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
def test_the_default_policy_at_its_edges(page, target, sent):
    assert referrer("strict-origin-when-cross-origin", page, target) == sent


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
    ("named", "sent"),
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
def test_a_policy_of_the_page_is_looked_up_in_the_list_and_nowhere_else(named, sent):
    response = html("", SECURE, **{"referrer-policy": named})

    assert referer_of("/x", response) == sent


def test_a_policy_nobody_knows_is_an_error():
    with pytest.raises(ValueError, match="policy must be one of no-referrer"):
        Referer("sometimes")
