"""A shard of a job on a real server, without the leases and renewals around it."""

import atexit
import os
import tempfile
from contextlib import contextmanager
from functools import cache
from itertools import count

from crawler.cluster import embedded_server
from crawler.cluster.commits import ClusterCommits
from crawler.cluster.comparison import is_there
from crawler.cluster.embedded_server import EmbeddedServer
from crawler.cluster.job_record import create_job
from crawler.cluster.loading import ShardMaker, load
from crawler.cluster.redis import connect
from crawler.cluster.server import Server
from crawler.cluster.shards import ShardMap
from crawler.frontier import Frontier, Politeness, Retries, Scope

_names = (f"job{n}" for n in count())

# The program of another server, such as a redis-server 6.2 or 7.0.
if program := os.environ.get("CLUSTER_TEST_SERVER"):
    embedded_server._program = lambda: program


@cache
def shared_server():
    """A server for all tests of this process."""
    folder = tempfile.TemporaryDirectory(prefix="valkey")
    server = EmbeddedServer(folder.name).start()
    atexit.register(folder.cleanup)
    atexit.register(server.kill)
    return server


class Holder:
    """Holds shards of one job under tokens of its own, and commits what they decide."""

    def __init__(self, url, record, **bounds):
        self.record = record
        self.server = Server(url, record.keys, lambda: True)
        self.server.life = self.server.begin_life()
        #: For the test itself: the commits use the other one whenever they like.
        self.client = connect(url)
        self.shards = {}
        self.dropped = []
        self.statuses = []
        self.commits = ClusterCommits(
            self.server, self.shards, drop=self._drop, verify=self._verify, **bounds
        )
        self.commits.on_status = self.statuses.append
        self._map = ShardMap(record.keys.shards)

    def claim(self, number, token, seen=None, beat=None):
        keys = self.record.keys
        lease = self.client.hmget(keys.leases[number], "token", "beat")
        old_token, old_beat = [(value or b"").decode() for value in lease]
        seen, beat = old_token if seen is None else seen, old_beat if beat is None else beat
        return self.server.call("claim", [keys.job, keys.leases[number]], token, seen, beat)

    def state(self, number):
        return load(self.server, self.record, number).state

    def open(self, number, token, make=None, **journal):
        assert self.claim(number, token)[0] == b"OK"
        maker = ShardMaker(
            self.record,
            self._map,
            lambda journal, **_: (make or _frontier)(journal),
            None,
            now=lambda: 1000.0,
            on_change=self.commits.changed,
            **journal,
        )
        shard = maker.make(number, token, load(self.server, self.record, number))
        self.shards[number] = shard
        return shard

    def receive(self, number):
        """Read what is new in the inbox of a shard."""
        shard = self.shards[number]
        inbox = self.record.keys.inboxes[number]
        for entry, fields in self.client.xrange(inbox, f"({shard.last_read}"):
            shard.receive(entry.decode(), fields[b"links"])

    def crash(self):
        """End without a word to Redis."""
        for shard in list(self.shards.values()):
            self._drop(shard)
        self.close()

    def close(self):
        self.commits.close()
        self.server.close()
        self.client.close()

    def _drop(self, shard):
        self.dropped.append(shard.number)
        del self.shards[shard.number]
        shard.drop()

    def _verify(self, call):
        """Do what a scheduler does after a restart of Redis."""
        self.server.life = self.server.begin_life()
        for shard in list(self.shards.values()):
            in_call = call.batches.get(shard.number)
            if not is_there(self.server, shard, in_call.seq if in_call else None):
                self.commits.lose(call, shard.number)


def _frontier(journal):
    return Frontier(
        Scope(["*"], max_depth=None),
        politeness=Politeness.off(),
        retries=Retries(1),
        journal=journal,
    )


@contextmanager
def holder(url, shards=1, **bounds):
    """Hold shards of a new job, whose leases last a second."""
    one = Holder(url, create_job(url, next(_names), {}, shards=shards, ttl=1.0), **bounds)
    try:
        yield one
    finally:
        one.close()
