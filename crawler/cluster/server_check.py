"""What a cluster needs of its Redis, and what a given server lacks of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from .permissions import refused

#: The oldest version that has all commands: XTRIM with MINID.
OLDEST = (6, 2)
#: Hosts whose server only this machine reaches.
_HERE = ("localhost", "127.0.0.1", "::1")


class Finding(NamedTuple):
    """
    One property of a server: its *value*, and what is wrong with it.

    A *problem* that *is_fatal* keeps a job from being created there.
    """

    name: str
    value: str
    problem: str = ""
    remedy: str = ""
    is_fatal: bool = False


def server_facts(client: Any) -> dict[str, str]:
    """Return what a server tells about itself, from INFO and CONFIG, and what it refuses to the user."""
    facts = {"refused": " ".join(refused(client))} | _address(client)
    if "+info" in facts["refused"]:
        return facts
    facts |= {name: str(value) for name, value in client.info("everything").items()}
    for name in ("appendonly", "appendfsync", "maxmemory", "maxmemory-policy"):
        facts |= _setting(client, name)
    return facts


def findings(facts: Mapping[str, str]) -> Iterator[Finding]:
    """Yield what a cluster needs to know of the server that *facts* describe."""
    yield _user(facts)
    if "redis_version" not in facts:
        return
    yield _version(facts)
    yield _persistence(facts)
    yield _fsync(facts)
    yield _eviction(facts)
    yield _memory(facts)


def _setting(client: Any, name: str) -> dict[str, str]:
    """Return the value of a setting; empty if this user must not read it, or there is none."""
    try:
        found = client.config_get(name)
    except Exception:  # a hosted server may refuse CONFIG: then the check says "unknown"
        return {}
    return {f"config {key}": value for key, value in found.items()}


def _address(client: Any) -> dict[str, str]:
    """Return who we are, and whether others reach the server without a password."""
    given = client.connection_pool.connection_kwargs
    is_here = "path" in given or given.get("host") in _HERE
    is_open = not (is_here or given.get("password"))
    return {"user": given.get("username") or "default", "is open": str(is_open)}


def _user(facts: Mapping[str, str]) -> Finding:
    user, lacks = facts.get("user", "default"), facts.get("refused")
    if lacks:
        problem = "it must not use some of the commands or keys of a cluster"
        return Finding("user", user, problem, f"ACL SETUSER {user} {lacks}", is_fatal=True)
    if facts.get("is open") == "True":
        return Finding(
            "user",
            f"{user}, without a password",
            "who reaches the server can change the URLs and the records of a job",
            "CONFIG SET requirepass, and rediss:// if the network is not your own",
        )
    return Finding("user", user)


def _version(facts: Mapping[str, str]) -> Finding:
    name = "Valkey" if "valkey_version" in facts else "Redis"
    text = facts.get("valkey_version") or facts.get("redis_version", "unknown")
    numbers = tuple(int(part) for part in text.split(".")[:2] if part.isdigit())
    if numbers >= OLDEST:
        return Finding("version", f"{name} {text}")
    needed = ".".join(map(str, OLDEST))
    return Finding(
        "version",
        f"{name} {text}",
        "it lacks commands that a cluster uses",
        f"install Redis {needed} or newer, or Valkey",
        is_fatal=True,
    )


def _persistence(facts: Mapping[str, str]) -> Finding:
    if facts.get("aof_enabled") == "1":
        return Finding("appendonly", "yes")
    return Finding(
        "appendonly",
        "no",
        "the job is lost when the server ends",
        "CONFIG SET appendonly yes, and the same in its configuration file; "
        "or --unsafe if the job may be lost",
        is_fatal=True,
    )


def _fsync(facts: Mapping[str, str]) -> Finding:
    value = facts.get("config appendfsync", "unknown")
    if value != "no":
        return Finding("appendfsync", value)
    return Finding(
        "appendfsync",
        value,
        "a loss of power may cost half a minute of pages, which are then fetched again",
        "CONFIG SET appendfsync everysec",
    )


def _eviction(facts: Mapping[str, str]) -> Finding:
    value = facts.get("maxmemory_policy", "unknown")
    if value == "noeviction":
        return Finding("maxmemory-policy", value)
    return Finding(
        "maxmemory-policy",
        value,
        "a full server would drop parts of the job",
        "CONFIG SET maxmemory-policy noeviction",
        is_fatal=True,
    )


def _memory(facts: Mapping[str, str]) -> Finding:
    limit, used = int(facts.get("maxmemory", 0)), int(facts.get("used_memory", 0))
    if not limit:
        return Finding(
            "maxmemory",
            "no limit",
            "a job that is too large takes all memory of the machine",
            "CONFIG SET maxmemory to half of the machine's memory",
        )
    share = used / limit
    value = f"{limit / 2**20:.0f} MiB, {share:.0%} used"
    if share < 0.8:
        return Finding("maxmemory", value)
    return Finding(
        "maxmemory", value, "the server is nearly full", "raise maxmemory, or remove old jobs"
    )
