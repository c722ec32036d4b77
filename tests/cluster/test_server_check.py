"""What is wrong with a server, and the remedy."""

import pytest

from crawler.cluster.server_check import findings, server_facts


def problems(facts):
    return {one.name: one for one in findings(facts) if one.problem}


def test_an_embedded_server_is_fit(client):
    found = problems(server_facts(client))

    assert found.keys() == {"maxmemory"}
    assert not found["maxmemory"].is_fatal


@pytest.mark.parametrize(
    ("changed", "name", "remedy"),
    [
        ({"redis_version": "6.0.16", "valkey_version": ""}, "version", "6.2"),
        ({"aof_enabled": "0"}, "appendonly", "appendonly yes"),
        ({"maxmemory_policy": "allkeys-lru"}, "maxmemory-policy", "noeviction"),
    ],
)
def test_what_would_lose_a_job_is_fatal_and_has_a_remedy(client, changed, name, remedy):
    found = problems(server_facts(client) | changed)[name]

    assert found.is_fatal
    assert remedy in found.remedy


def test_a_server_that_is_nearly_full_is_a_problem(client):
    found = problems(server_facts(client) | {"maxmemory": "100", "used_memory": "90"})

    assert "90% used" in found["maxmemory"].value


def test_a_server_that_hides_its_configuration_is_checked_as_far_as_it_tells(client):
    client.execute_command("ACL", "SETUSER", "poor", "on", ">x", "~*", "+@all", "-config")
    client.execute_command("AUTH", "poor", "x")

    found = {one.name: one.value for one in findings(server_facts(client))}

    assert (found["appendonly"], found["appendfsync"]) == ("yes", "unknown")


def test_a_server_that_others_reach_without_a_password_is_a_problem(client):
    found = problems(server_facts(client) | {"is open": "True"})["user"]

    assert "without a password" in found.value
    assert "requirepass" in found.remedy
