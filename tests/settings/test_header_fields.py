"""The setting headers, and the fields that it refuses; the setting proxy, and its password."""

import json

import pytest

from crawler.settings import Settings

PROXY = "http://ann:s3cret@proxy.test:3128"


def refusal(**layers):
    with pytest.raises(ValueError) as caught:
        Settings.load(**layers)
    return str(caught.value)


@pytest.mark.parametrize(
    "given",
    [
        {"Accept": "a, b;q=0.5", "X-Two": "2"},
        ["Accept: a, b;q=0.5", "X-Two: 2"],
        "Accept: a, b;q=0.5\nX-Two: 2",
    ],
)
def test_header_fields_are_a_mapping_a_list_or_lines(given):
    settings = Settings.load(spider={"headers": given})

    assert settings.header_fields() == {"Accept": "a, b;q=0.5", "X-Two": "2"}


def test_a_table_in_a_file_is_a_mapping(tmp_path):
    path = tmp_path / "crawler.toml"
    path.write_text('proxy = "socks5h://proxy.test"\n[headers]\nAccept-Language = "de"\n')

    settings = Settings.load(toml=path)

    assert settings.header_fields() == {"Accept-Language": "de"}
    assert settings.proxy == "socks5h://proxy.test"


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("Authorization", "HttpAuth"),
        ("cookie", "cookies="),
        ("Proxy-Authorization", "the setting proxy"),
        ("Host", "single requests"),
        ("User-Agent", "the setting user_agent"),
    ],
)
def test_a_field_that_is_not_for_every_host_is_refused_with_what_to_do(name, instead):
    message = refusal(overrides={"headers": [f"{name}: s3cret"]})

    assert message.startswith(f"headers: {name} would go to every host: ")
    assert instead in message
    assert message.endswith(" (from command line)")
    assert "s3cret" not in message


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("s3cret", "a header field is 'NAME: VALUE'"),
        ("a b: c", "header name 'a b' is not a token"),
        (7, "expected a mapping or a list of header fields, not 7"),
    ],
)
def test_what_is_no_header_field_is_an_error(given, complaint):
    message = refusal(code={"headers": given})

    assert message.startswith(f"headers: {complaint}")
    assert "s3cret" not in message


def test_the_password_of_a_proxy_is_never_shown():
    settings = Settings.load(overrides={"proxy": PROXY})
    [row] = settings.explain("proxy")

    assert settings.proxy == PROXY
    assert "s3cret" not in f"{row} {settings!r} {json.dumps(row.to_dict())}"
    assert "s3cret" not in refusal(code={"proxy": PROXY.replace("http:", "gopher:")})


@pytest.mark.parametrize("given", ["proxy.test:3128", "http://", "http://a b", "ftp://a", 7])
def test_what_is_no_proxy_is_an_error(given):
    assert refusal(code={"proxy": given}).startswith("proxy: expected the URL of a proxy, such as")
