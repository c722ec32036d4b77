"""Which commands and keys of a cluster a user of Redis may not use."""

from __future__ import annotations

from typing import Any

from .keys import PREFIX

_KEY = f"{PREFIX}check"
#: What all keys of jobs begin with, as a user is allowed them.
KEYS = f"~{PREFIX}*"
#: All that schedulers, collectors and commands send, or call in scripts, in a form that the server understands.
_COMMANDS = (
    *("INFO", "TIME", "BGREWRITEAOF", "SCAN 0", "EVAL 1 0", "EVALSHA 1 0"),
    *(f"{name} {_KEY}" for name in ("EXISTS", "UNLINK", "HGETALL", "HKEYS", "LLEN", "XLEN")),
    *(f"{name} {_KEY} 1" for name in ("HGET", "HMGET", "HDEL", "LINDEX", "RPUSH", "PEXPIRE")),
    *(f"{name} {_KEY} 1 1" for name in ("HSET", "HSETNX", "HINCRBY", "LRANGE", "XRANGE")),
    *(f"XREVRANGE {_KEY} + -", f"XADD {_KEY} * 1 1", f"XTRIM {_KEY} MAXLEN 1"),
    *(f"XREAD STREAMS {_KEY} 0", f"BLPOP {_KEY} 1", f"MEMORY USAGE {_KEY}"),
)


def refused(client: Any) -> list[str]:
    """
    Return what the user of *client* lacks, as ACL SETUSER adds it: "+xadd", "~crawler:*".

    The server checks a command when it enters a transaction. That is discarded: nothing is done.
    """
    connection = client.connection_pool.get_connection()
    try:
        if _refusal(connection, "MULTI"):
            return ["+multi", "+discard", "+exec"]
        found = [lacks for words in _COMMANDS if (lacks := _refusal(connection, words))]
        _refusal(connection, "DISCARD")
    finally:
        client.connection_pool.release(connection)
    return list(dict.fromkeys(found))


def _refusal(connection: Any, words: str) -> str:
    """Return what the user lacks to send the command; "" if that is nothing."""
    from redis.exceptions import NoPermissionError  # noqa: PLC0415 - the extra is needed only here

    connection.send_command(*words.split())
    try:
        connection.read_response()
    except NoPermissionError as error:
        return KEYS if "key" in str(error) else f"+{words.split(maxsplit=1)[0].lower()}"
    return ""
