"""Whatever happens to shards, calls and Redis, in any order: every page ends once."""

from collections import Counter
from itertools import count

import gevent
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from crawler.cluster.blob import unpack
from crawler.data import Link, Request
from crawler.errors import RedisAway
from crawler.frontier import DONE

from .shard import holder, shared_server

PAGES = 24
BEFORE = "the life before"
SHARDS = st.sampled_from([0, 1])


@pytest.fixture(autouse=True)
def deadline():
    """Leave out that of each test: hypothesis runs one test many times, and a run has its own."""


_tokens = (f"token{n}" for n in count())


class Protocol(RuleBasedStateMachine):
    """
    Two shards of one owner work on a tree of pages; a page's links lead to both of them.

    A history of what Redis had after each commit is kept: it may come back with any of it.
    """

    def __init__(self):
        super().__init__()
        self._context = holder(shared_server().url, shards=2)
        self.one = self._context.__enter__()
        self.one.commits._writing.kill()  # calls are made when the machine makes them
        names = (f"{n}.test" for n in count())
        self.hosts = {}
        while len(self.hosts) < 2:
            name = next(names)
            self.hosts.setdefault(self.one._map.of_host(name), name)
        self.history = []

    def teardown(self):
        self._context.__exit__(None, None, None)

    def url(self, number):
        return f"http://{self.hosts[number % 3 % 2]}/{number}"

    @initialize()
    def begin(self):
        self.one.client.hset(self.one.record.keys.leases[2], "pending", 0)
        for shard in (0, 1):
            self.one.open(shard, next(_tokens))
        self.one.shards[0].frontier.admit(Request(self.url(0)))
        self.commit()

    # -- what a scheduler does --------------------------------------------------------------------

    @rule(shard=SHARDS)
    def fetch_a_page(self, shard):
        owner = self.one.shards.get(shard)
        if owner is None or not len(owner.frontier.view):
            return
        taken = owner.frontier.take()
        number = int(taken.request.url.rpartition("/")[2])
        for to in (2 * number + 1, 2 * number + 2):
            if to < PAGES:
                owner.admit(Link(self.url(to), 1, None), taken)
        owner.frontier.settle(taken, DONE)

    @rule(shard=SHARDS)
    def read_the_inbox(self, shard):
        if shard in self.one.shards:
            self.one.receive(shard)

    @rule()
    def commit(self):
        self.one.commits.write()
        assert self.one.commits.failure is None
        self._save()

    # -- what may go wrong ------------------------------------------------------------------------

    @rule()
    def lose_the_answer_to_a_commit(self):
        server, real = self.one.server, self.one.server.call
        answers = []

        def call(script, *args):
            answer = real(script, *args)
            answers.append(answer)
            if script == "commit" and len(answers) == 1:
                raise RedisAway("the answer is lost")
            return answer

        server.call, server._is_ended = call, bool
        try:
            self.commit()
        finally:
            server.call, server._is_ended = real, lambda: True

    @rule(shard=SHARDS)
    def have_a_shard_claimed_by_another(self, shard):
        if shard in self.one.shards:
            self.one.claim(shard, next(_tokens))

    @rule(shard=SHARDS)
    def give_a_shard_up(self, shard):
        if shard in self.one.shards:
            self.one._drop(self.one.shards[shard])

    @rule(shard=SHARDS)
    def claim_and_load(self, shard):
        if self.one.server.life == BEFORE:  # nothing can be claimed before
            self.one.commits.compare()
        if shard not in self.one.shards:
            self.one.open(shard, next(_tokens))

    @precondition(lambda self: self.history)
    @rule(lost=st.integers(0, 3))
    def let_redis_come_back_with_less(self, lost):
        place = max(0, len(self.history) - 1 - lost)
        del self.history[place + 1 :]
        keys = self.one.record.keys
        with self.one.client.pipeline(transaction=True) as step:
            step.delete(*keys.all)
            for key, value in self.history[place].items():
                step.restore(key, 0, value)
            step.hset(keys.job, "life", BEFORE)
            step.execute()
        self.one.server.life = BEFORE

    def _save(self):
        keys = self.one.record.keys.all
        with self.one.client.pipeline() as step:
            for key in keys:
                step.dump(key)
            found = zip(keys, step.execute(), strict=True)
        self.history.append({key: value for key, value in found if value is not None})


class FinishedProtocol(Protocol):
    """The same; at the end the crawl is finished without faults, and its log is checked."""

    def teardown(self):
        try:
            with gevent.Timeout(120):
                self._finish()
            self._check()
        finally:
            super().teardown()

    def _finish(self):
        self.one.statuses.clear()
        while not self.one.statuses or self.one.statuses[-1] != "finished":
            for shard in (0, 1):
                self.claim_and_load(shard)
                self.read_the_inbox(shard)
                self.fetch_a_page(shard)
            self.one.commits._send_all()
            if self._is_over():
                break

    def _is_over(self):
        return self.one.client.hget(self.one.record.keys.job, "status") == b"finished"

    def _check(self):
        ends = Counter()
        for _, fields in self.one.client.xrange(self.one.record.keys.log):
            for name, blob in fields.items():
                if name != b"call":
                    ends.update(request["url"] for request, *_ in unpack(blob))
        assert ends == Counter({self.url(number): 1 for number in range(PAGES)})


TestProtocol = FinishedProtocol.TestCase
TestProtocol.settings = settings(
    max_examples=15,
    stateful_step_count=25,
    suppress_health_check=[HealthCheck.too_slow],
)
