"""The connection to Redis or Valkey: its address, its password and its errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from .._distribution import install_command
from ..credentials import hide_passwords
from ..errors import ClusterError, RedisAway

#: The variable of the environment that has the address, with a password if there is one.
VARIABLE = "CRAWLER_REDIS"
#: Seconds until a command that was not answered counts as lost, and until a connection does.
_ANSWER = 10.0
_CONNECT = 5.0
#: The error of a script in a server that is full, as Redis 6.2 words it.
_OOM = "-OOM "
_SCHEMES = ("redis://", "rediss://", "unix://")


def address(given: str | None, known: str | None) -> str:
    """
    Return the URL of the server: the one *given* on a command line, or the one *known* from the settings.

    A password on a command line is refused: every user of the machine can read it there.
    """
    url = given or known
    if not url:
        raise ValueError(
            f"no Redis is named: give --redis redis://HOST:6379, set the variable {VARIABLE}, or "
            'write redis = "redis://HOST:6379" into crawler.toml'
        )
    if given and hide_passwords(given) != given:
        raise ValueError(
            f"--redis {hide_passwords(given)} has a password, which others can read in the list of "
            f"processes: set the variable {VARIABLE} to the whole URL instead"
        )
    if not url.startswith(_SCHEMES):
        raise ValueError(
            f"{hide_passwords(url)!r:.200} is not the URL of a Redis: it must begin with "
            f"{', '.join(_SCHEMES[:-1])} or {_SCHEMES[-1]}"
        )
    return url


def connect(url: str, *, answer: float = _ANSWER) -> Any:
    """
    Return a client with one connection of its own at *url*, which must be used by one at a time.

    It never sends a command a second time: only the commit knows whether that is safe. A command
    that has no answer within *answer* seconds fails.
    """
    client, retry = _load("redis"), _load("redis.retry")
    backoff = _load("redis.backoff")
    try:
        pool = client.ConnectionPool.from_url(
            url,
            max_connections=1,
            retry=retry.Retry(backoff.NoBackoff(), 0),
            socket_timeout=answer,
            socket_connect_timeout=_CONNECT,
            health_check_interval=0,
            protocol=2,
        )
    except ValueError as error:
        raise ValueError(
            f"{hide_passwords(url)!r:.200} is not the URL of a Redis: {error}"
        ) from None
    return client.Redis.from_pool(pool)  # which closes the connection with the client


@contextmanager
def errors_of(url: str) -> Iterator[None]:
    """Raise RedisAway if the server at *url* cannot be reached, ClusterError if it refuses."""
    client = _load("redis")
    try:
        yield
    except client.exceptions.NoPermissionError as error:
        raise ClusterError(
            f"{hide_passwords(url)} refuses this user: {error}; `crawler cluster check` names all "
            "that it must be allowed"
        ) from error
    except client.AuthenticationError as error:
        raise ClusterError(
            f"{hide_passwords(url)} refuses this user: {error}; put user and password into the "
            f"variable {VARIABLE}, as redis://USER:PASSWORD@HOST:6379"
        ) from error
    except client.exceptions.OutOfMemoryError as error:
        raise _full(url, error) from error
    except client.exceptions.BusyLoadingError as error:
        raise RedisAway(f"{hide_passwords(url)} is loading its data; wait until it has") from error
    except (client.ConnectionError, client.TimeoutError, OSError) as error:
        raise RedisAway(
            f"no answer from {hide_passwords(url)}: {error}; start the server there, or name "
            "another one with --redis"
        ) from error
    except client.RedisError as error:
        if _OOM in str(error):
            raise _full(url, error) from error
        raise ClusterError(f"{hide_passwords(url)} answers: {error}") from error


def _full(url: str, error: Exception) -> RedisAway:
    return RedisAway(
        f"{hide_passwords(url)} is full: {error}; raise its maxmemory, or remove old jobs with "
        "`crawler cluster rm`"
    )


def _load(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as missing:
        raise ClusterError(f"a cluster needs redis: {install_command('cluster')}") from missing
