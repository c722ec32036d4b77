"""What a user of the server must not use is found before a job needs it, and nothing is changed for that."""

from contextlib import contextmanager

import pytest

from crawler.cluster.redis import connect
from crawler.cluster.server_check import findings, server_facts


def problems(facts):
    return {one.name: one for one in findings(facts) if one.problem}


@contextmanager
def connected_as(client, server, *rules):
    """Connect as a user with these *rules* only."""
    client.execute_command("ACL", "SETUSER", "poor", "reset", "on", ">x", *rules)
    user = connect(server.url.replace("://", "://poor:x@"))
    try:
        yield user
    finally:
        user.close()
        client.execute_command("ACL", "DELUSER", "poor")


@pytest.mark.parametrize(
    ("rules", "lacks"),
    [
        ("~crawler:* +@all -bgrewriteaof -xtrim", "+bgrewriteaof +xtrim"),
        ("~crawler:* +@all -info", "+info"),
        ("~others:* +@all", "~crawler:*"),
        ("~crawler:* +@all -multi", "+multi +discard +exec"),
    ],
)
def test_what_a_user_must_not_use_is_fatal_and_named(client, server, rules, lacks):
    with connected_as(client, server, *rules.split()) as user:
        found = problems(server_facts(user))["user"]

    assert found.is_fatal
    assert found.remedy == f"ACL SETUSER poor {lacks}"
    assert not client.dbsize()


def test_the_rules_in_the_documents_are_enough(client, server):
    rules = "~crawler:* +@read +@write +@scripting +@transaction +@connection +info +time"
    with connected_as(client, server, *rules.split(), "+bgrewriteaof") as user:
        found = problems(server_facts(user))

    assert not any(one.is_fatal for one in found.values())
