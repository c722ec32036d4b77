import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.headers import Headers
from crawler.http.referrer_policy import POLICIES, named_policy, referrer

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


@pytest.mark.parametrize(
    ("field", "policy"),
    [
        ("origin", "origin"),
        ("Origin", "origin"),
        ("no-referrer, origin", "origin"),
        ("origin, some.module.Policy", "origin"),
        ("some.module.Policy", None),
        ("os.system", None),
        ("", None),
    ],
)
def test_a_policy_is_looked_up_in_the_list_and_nowhere_else(field, policy):
    assert named_policy(Headers({"referrer-policy": field})) == policy


@given(st.sampled_from(sorted(POLICIES)), st.text(max_size=60))
def test_what_is_sent_is_one_line_of_ascii_without_login_and_fragment(policy, text):
    """Pages choose their own URLs, and so the text of this field."""
    for page in (text, f"https://user:word@site.test/{text}", f"http://site.test/#{text}"):
        sent = referrer(policy, page, SAME)

        assert sent.isascii()
        assert sent.isprintable()
        assert " " not in sent
        assert "#" not in sent
        assert "user:word@" not in sent
