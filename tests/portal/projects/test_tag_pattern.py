import pytest

from crawler.portal.projects.tag_pattern import DEFAULT, is_of_titles, version_of, wrong_pattern


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


def test_a_pattern_with_colons_is_one_of_titles():
    pattern = "{Release}:{Name}:{Version}"
    assert (wrong_pattern(pattern), is_of_titles(pattern)) == ("", True)
    assert not is_of_titles(DEFAULT)

    assert version_of("release:shop:1.0", pattern, "shop") == "1.0"
    assert version_of("Beta-2:shop:1.0rc1", pattern, "shop") == "1.0rc1"
    for other in ("release:other:1.0", "release:shop:new", ":shop:1.0", "a:b:shop:1.0"):
        assert version_of(other, pattern, "shop") == ""


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("{Release}:{Name}", "one {version}"),
        ("{release}{release}{version}", "at most one"),
        ("{other}{version}", "only letters"),
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
