"""The vectors of RFC 7616, and what requests sends for the same challenge."""

import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from requests.auth import HTTPDigestAuth
from requests.utils import parse_dict_header

from crawler.http.digest import Challenge, DigestLogin, strongest_challenge, user_and_password

from ..cpu_time import grows_linearly

NONCE = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
CNONCE = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
OPAQUE = "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
RFC = (
    f'Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=%s, '
    f'nonce="{NONCE}", opaque="{OPAQUE}"'
)


def answered(field, user="Mufasa", password="Circle of Life", target="/dir/index.html", **options):
    challenge = strongest_challenge([field])
    login = DigestLogin(
        challenge, user.encode(), password.encode(), new_cnonce=lambda: CNONCE, **options
    )
    sent = login.field("GET", target)
    assert sent.startswith("Digest ")
    return parse_dict_header(sent.removeprefix("Digest "))


@pytest.mark.parametrize(
    ("algorithm", "response"),
    [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ],
)
def test_the_examples_of_the_rfc(algorithm, response):
    assert answered(RFC % algorithm) == {
        "username": "Mufasa",
        "realm": "http-auth@example.org",
        "uri": "/dir/index.html",
        "algorithm": algorithm,
        "nonce": NONCE,
        "nc": "00000001",
        "cnonce": CNONCE,
        "qop": "auth",
        "response": response,
        "opaque": OPAQUE,
    }


def test_the_user_is_hashed_where_the_server_wants_that():
    field = (
        'Digest realm="api@example.org", qop="auth", algorithm=SHA-256, nonce="n", userhash=true'
    )
    sent = answered(field, user="Jäsøn Doe")

    assert sent["userhash"] == "true"
    assert sent["username"] == hashlib.sha256("Jäsøn Doe:api@example.org".encode()).hexdigest()


def test_a_user_beyond_ascii_is_encoded():
    field = DigestLogin(Challenge("r", "n"), "Jäsøn".encode(), b"x").field("GET", "/")

    assert "username*=UTF-8''J%C3%A4s%C3%B8n, " in field


@pytest.mark.parametrize("qop", ["", 'qop="auth", '])
@pytest.mark.parametrize("algorithm", ["MD5", "MD5-SESS", "SHA-256"])
def test_requests_sends_the_same(monkeypatch, algorithm, qop):
    field = f'Digest realm="a, b", {qop}nonce="abc", algorithm={algorithm}'
    theirs = HTTPDigestAuth("me", "secret")
    theirs.init_per_thread_state()
    theirs._thread_local.chal = parse_dict_header(field.removeprefix("Digest "))
    sent = parse_dict_header(
        theirs.build_digest_header("GET", "http://site.test/a?b=c").removeprefix("Digest ")
    )
    cnonce = sent.get("cnonce", "")
    login = DigestLogin(strongest_challenge([field]), b"me", b"secret", new_cnonce=lambda: cnonce)
    ours = parse_dict_header(login.field("GET", "/a?b=c").removeprefix("Digest "))

    if qop or algorithm != "MD5-SESS":  # they do not say the cnonce that they have used
        assert ours["response"] == sent["response"]
    assert {name: ours[name] for name in ("realm", "nonce", "uri", "username")} == {
        "realm": "a, b",
        "nonce": "abc",
        "uri": "/a?b=c",
        "username": "me",
    }


def test_each_answer_has_a_number_and_a_nonce_of_its_own():
    login = DigestLogin(Challenge("r", "n", qop="auth"), b"me", b"secret")
    fields = [login.field("GET", "/") for _ in range(3)]

    assert [re.search("nc=([0-9a-f]{8})", field)[1] for field in fields] == [
        "00000001",
        "00000002",
        "00000003",
    ]
    assert len({re.search('cnonce="(.*?)"', field)[1] for field in fields}) == 3


def test_the_body_counts_if_the_server_wants_only_that():
    challenge = strongest_challenge(['Digest realm="r", nonce="n", qop="auth-int"'])
    login = DigestLogin(challenge, b"me", b"secret", new_cnonce=lambda: "c")

    first = login.field("POST", "/", b"one")
    login._count = 0
    assert "qop=auth-int" in first
    assert login.field("POST", "/", b"two") != first


@pytest.mark.parametrize(
    ("fields", "algorithm"),
    [
        (['Digest realm="r", nonce="n"'], "MD5"),
        (['digest nonce=n, realm=r, algorithm="sha-256"'], "sha-256"),
        (['Basic realm="x", Digest realm="r", nonce="n"'], "MD5"),
        (['Negotiate, Digest realm="r", nonce="n", Basic realm="x"'], "MD5"),
        (["Basic realm=x", 'Digest realm="r", nonce="n"'], "MD5"),
        ([RFC % "MD5", RFC % "SHA-256"], "SHA-256"),
        ([RFC % "SHA-256", RFC % "MD5"], "SHA-256"),
        ([RFC % "MD5" + ", " + RFC % "SHA-256-sess"], "SHA-256-sess"),
        ([RFC % "SHA-3", RFC % "MD5"], "MD5"),
    ],
)
def test_the_strongest_known_challenge_is_answered(fields, algorithm):
    assert strongest_challenge(fields).algorithm == algorithm


@pytest.mark.parametrize(
    "field",
    [
        "",
        "Basic realm=x",
        "Digest",
        "Digest realm=r",
        "Digest nonce=n",
        RFC % "SHA-3",
        'Digest realm="r", nonce="n", qop="other"',
        'Basic realm="Digest realm=r, nonce=n"',
    ],
)
def test_what_is_not_such_a_challenge_is_left_alone(field):
    assert strongest_challenge([field]) is None


@given(st.text(max_size=80))
def test_whatever_a_server_sends_the_answer_is_one_line_of_one_field(text):
    field = f'Digest realm="{text}", nonce="{text}", opaque="{text}", {text}'
    challenge = strongest_challenge([field])
    if challenge is not None:
        realm = challenge.realm
        sent = DigestLogin(challenge, b'm"e', b"secret").field("GET", "/")
        assert parse_dict_header(sent)["nonce"] is not None
        assert "secret" not in sent.replace(realm, "").replace(challenge.nonce, "")


@pytest.mark.parametrize("piece", ["a", "a ", 'a="', "a=", '\\"', "Digest ", "a , "])
def test_a_long_field_is_read_in_linear_time(piece):
    assert grows_linearly(lambda number: strongest_challenge(["Digest " + piece * number]), 100_000)


def test_a_basic_login_is_read():
    assert user_and_password("Basic bWU6YTpi") == (b"me", b"a:b")
    for wrong in ("Basic bWU=", "Basic ???"):
        with pytest.raises(ValueError):
            user_and_password(wrong)
