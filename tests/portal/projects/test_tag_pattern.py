import pytest

from crawler.portal.projects.tag_pattern import DEFAULT, version_of, wrong_pattern


@pytest.mark.parametrize(
    ("tag", "version"),
    [
        ("release/shop/1.2.3", "1.2.3"),
        ("release/shop/2.0rc1", "2.0rc1"),
        ("release/other/1.0", ""),
        ("release/shop/", ""),
        ("release/shop/newest", ""),
        ("release/shop/1.0/x", ""),
        ("release/shop/1.0;rm -rf", ""),
        ("xrelease/shop/1.0", ""),
        ("", ""),
    ],
)
def test_a_tag_names_a_version_by_the_pattern(tag, version):
    assert version_of(tag, DEFAULT, "shop") == version


def test_other_patterns():
    assert version_of("v1.0", "v{version}", "shop") == "1.0"
    assert version_of("shop-1.0", "{name}-{version}", "shop") == "1.0"
    assert version_of("shopX1.0", "{name}.{version}", "shop") == ""  # a dot is a dot


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("{Release}:{Name}:{Version}", "no colon"),
        ("release/{name}", "one {version}"),
        ("{version}{version}", "one {version}"),
        ("(.*){version}", "only letters"),
        ("../{version}", "only letters"),
        ("x" * 200 + "{version}", "only letters"),
    ],
)
def test_what_is_wrong_with_a_pattern_is_named(pattern, words):
    assert words in wrong_pattern(pattern)
    assert wrong_pattern(DEFAULT) == ""
