"""Deliveries as GitHub, Gitea, Forgejo and GitLab send them: right, wrong, cut short, old."""

import hashlib
import hmac
from base64 import b64encode

import pytest
from werkzeug.datastructures import Headers

from crawler.portal.projects.webhook import check_delivery

SECRET, BODY, NOW = "the secret", b'{"ref": "refs/tags/release/shop/1.0"}', 1_800_000_000.0


def digest(body=BODY, secret=SECRET):
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def standard(body=BODY, sent=str(int(NOW)), number="d1", secret=SECRET):
    signed = f"{number}.{sent}.".encode() + body
    signature = b64encode(hmac.digest(secret.encode(), signed, "sha256")).decode()
    return {
        "webhook-id": number,
        "webhook-timestamp": sent,
        "webhook-signature": f"v1,{signature}",
    }


def github(**more):
    return {"X-Hub-Signature-256": f"sha256={digest(**more)}", "X-GitHub-Delivery": "d1"}


RIGHT = {
    "github": github(),
    "gitea": {"X-Gitea-Signature": digest(), "X-Gitea-Delivery": "d1"},
    "forgejo": {"X-Forgejo-Signature": digest(), "X-Forgejo-Delivery": "d1"},
    "gitlab": standard(),
}


@pytest.mark.parametrize("provider", RIGHT)
def test_a_right_delivery_is_taken(provider):
    found = check_delivery(Headers(RIGHT[provider]), BODY, SECRET, NOW)

    assert found == (provider, "d1", "")


def test_names_of_headers_have_any_case():
    lower = {name.lower(): value for name, value in RIGHT["github"].items()}

    assert check_delivery(Headers(lower), BODY, SECRET, NOW).refusal == ""


def test_the_token_of_gitlab_is_the_secret_itself():
    headers = {"X-Gitlab-Token": SECRET, "X-Gitlab-Event-UUID": "u"}

    assert check_delivery(Headers(headers), BODY, SECRET, NOW) == ("gitlab", "u", "")
    assert check_delivery(Headers(headers), BODY, "other", NOW).refusal


@pytest.mark.parametrize("provider", RIGHT)
@pytest.mark.parametrize(
    "change",
    [
        lambda headers, body: (headers, body[:-1]),
        lambda headers, body: (headers, body + b" "),
        lambda headers, body: ({n: v[:-1] for n, v in headers.items()}, body),
        lambda headers, body: ({n: v.upper() + "é" for n, v in headers.items()}, body),
        lambda headers, body: ({n: v for n, v in headers.items() if "ignature" not in n}, body),
        lambda headers, body: ({n: v for n, v in headers.items() if "ignature" in n}, body),
    ],
    ids=["cut", "longer", "shorter values", "other values", "no signature", "no id"],
)
def test_a_wrong_delivery_is_refused(provider, change):
    headers, body = change(RIGHT[provider], BODY)

    assert check_delivery(Headers(headers), body, SECRET, NOW).refusal


@pytest.mark.parametrize("sent", ["1799999000", "1800001000", "", "soon", "9" * 40, "١٢٣"])
def test_an_old_delivery_of_gitlab_is_refused(sent):
    assert check_delivery(Headers(standard(sent=sent)), BODY, SECRET, NOW).refusal


def test_another_secret_is_refused():
    assert check_delivery(Headers(github(secret="x")), BODY, SECRET, NOW).refusal
    assert check_delivery(Headers(standard(secret="x")), BODY, SECRET, NOW).refusal
