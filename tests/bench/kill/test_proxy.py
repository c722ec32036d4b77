"""A network that is cut, and one in which nothing arrives for a while."""

from contextlib import closing, contextmanager

import gevent
import pytest

from crawler.bench.kill.proxy import Proxy
from crawler.cluster.redis import connect, errors_of
from crawler.errors import RedisAway

from ...cluster.shard import shared_server


@contextmanager
def proxied():
    proxy = Proxy(str(shared_server().socket))
    try:
        with closing(connect(proxy.start())) as client:
            yield proxy, client
    finally:
        proxy.stop()


def test_commands_and_replies_pass():
    with proxied() as (_, client):
        assert client.echo("x" * 200_000) == b"x" * 200_000


def test_a_cut_closes_connections_and_refuses_new_ones_until_it_is_over():
    with proxied() as (proxy, client):
        client.ping()
        proxy.cut()
        for _ in range(2):
            with pytest.raises(RedisAway), errors_of("redis://"):
                client.ping()

        proxy.restore()

        assert client.ping()


@pytest.mark.parametrize(("what", "arrives"), [("commands", 0), ("replies", 1)])
def test_what_is_held_arrives_later(what, arrives):
    with proxied() as (proxy, client), closing(connect(shared_server().url)) as direct:
        direct.delete("held")
        client.ping()
        proxy.hold(what)
        asking = gevent.spawn(client.incr, "held")
        while arrives and not direct.exists("held"):
            gevent.sleep(0.01)
        asking.join(0.05)
        assert not asking.ready()
        assert int(direct.get("held") or 0) == arrives

        proxy.restore()

        assert asking.get(timeout=120) == 1
