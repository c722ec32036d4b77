import time
from queue import Empty, Full

import gevent
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from crawler.buffer import Pool, PoolFigures
from crawler.errors import PoolClosed


@pytest.mark.parametrize(
    ("capacity", "buffers", "complaint"),
    [(0, 1, "capacity must be at least 1"), (1, 0, "at least 1 buffer")],
)
def test_refuses_a_size_of_zero_and_says_which(capacity, buffers, complaint):
    with pytest.raises(ValueError, match=complaint):
        Pool(capacity, buffers)


def test_grows_while_full_and_shrinks_once_it_has_stood_empty():
    pool = Pool(2, 3, linger=0)

    for n in range(5):
        pool.put(n)
    assert repr(pool) == "<Pool open, 5 data in 3/3 buffers>"

    assert [pool.get() for _ in range(5)] == [0, 1, 2, 3, 4]
    assert repr(pool) == "<Pool open, 0 data in 1/3 buffers>"


def test_adds_a_buffer_only_when_all_are_full():
    pool = Pool(3, 10)

    numbers = []
    for n in range(30):
        pool.put(n)
        numbers.append(pool.buffer_number)

    assert numbers == [n // 3 + 1 for n in range(30)]
    assert pool.figures() == PoolFigures(
        buffer_cap=3, max_buffer_number=10, buffer_number=10, total=30
    )


def test_does_not_flap_while_the_load_comes_in_waves():
    pool = Pool(1, 4, linger=60)

    for _ in range(20):
        for n in range(4):
            pool.put(n)
        for _ in range(4):
            pool.get()
        assert pool.buffer_number == 4


def test_gives_spare_buffers_back_while_one_datum_stays_inside():
    pool = Pool(1, 5, linger=0)
    for n in range(5):
        pool.put(n)

    for _ in range(4):
        pool.get()

    assert repr(pool) == "<Pool open, 1 data in 1/5 buffers>"


def test_put_waits_for_room():
    pool = Pool(1, 1)
    pool.put("a")
    producer = gevent.spawn(pool.put, "b")
    gevent.idle()
    assert not producer.ready()

    assert pool.get() == "a"

    producer.get(timeout=5)
    assert pool.get() == "b"


def test_get_waits_for_a_datum():
    pool = Pool(1, 1)
    consumer = gevent.spawn(pool.get)
    gevent.idle()
    assert not consumer.ready()

    pool.put("a")

    assert consumer.get(timeout=5) == "a"


def test_waits_no_longer_than_asked():
    pool = Pool(1, 1)

    with pytest.raises(Empty):
        pool.get(timeout=0.01)
    pool.put("a")
    with pytest.raises(Full):
        pool.put("b", timeout=0.01)

    assert pool.close() == ["a"]


def test_refuses_none_without_taking_a_place():
    pool = Pool(1, 1)

    with pytest.raises(ValueError, match="None"):
        pool.put(None)

    pool.put("a", timeout=1)
    assert len(pool) == 1


def test_close_hands_back_what_was_left_in_order():
    pool = Pool(2, 3)
    for n in range(5):
        pool.put(n)

    assert pool.close() == [0, 1, 2, 3, 4]
    assert pool.close() == []
    assert repr(pool) == "<Pool closed, 0 data in 3/3 buffers>"


def test_close_wakes_every_waiting_consumer():
    pool = Pool(1, 1)
    consumers = [gevent.spawn(pool.get) for _ in range(50)]
    gevent.idle()

    pool.close()

    assert len(gevent.joinall(consumers, timeout=5)) == 50
    assert all(isinstance(consumer.exception, PoolClosed) for consumer in consumers)


def test_close_wakes_every_waiting_producer_and_stores_nothing_of_theirs():
    pool = Pool(1, 1)
    pool.put("kept")
    producers = [gevent.spawn(pool.put, n) for n in range(50)]
    gevent.idle()

    left = pool.close()

    assert left == ["kept"]
    assert len(gevent.joinall(producers, timeout=5)) == 50
    assert all(isinstance(producer.exception, PoolClosed) for producer in producers)
    assert len(pool) == 0


@pytest.mark.parametrize("call", [lambda p: p.put(1), lambda p: p.get(), lambda p: p.push(1)])
def test_a_closed_pool_refuses_every_call(call):
    pool = Pool(1, 1)
    pool.close()

    with pytest.raises(PoolClosed), gevent.Timeout(5):
        call(pool)


def test_push_never_waits_and_pushes_out_the_oldest():
    pool = Pool(2, 2)

    pushed_out = [pool.push(n) for n in range(7)]

    assert pushed_out == [False] * 4 + [True] * 3
    assert pool.close() == [3, 4, 5, 6]


def test_a_killed_waiter_loses_nothing():
    pool = Pool(1, 1)
    consumer = gevent.spawn(pool.get)
    gevent.idle()

    pool.put("a")
    consumer.kill(timeout=5)

    if consumer.value == "a":
        assert len(pool) == 0
    else:
        assert pool.get(timeout=5) == "a"
    pool.put("b", timeout=5)
    assert pool.get(timeout=5) == "b"


def test_many_producers_and_consumers_move_each_datum_once():
    pool = Pool(2, 3)
    taken = []

    def consume():
        for _ in range(100):
            taken.append(pool.get())
            gevent.sleep(0)

    def produce(base):
        for n in range(100):
            pool.put(base + n)
            gevent.sleep(0)

    workers = [gevent.spawn(produce, base * 1000) for base in range(8)]
    workers += [gevent.spawn(consume) for _ in range(8)]
    gevent.joinall(workers, timeout=30, raise_error=True)

    assert sorted(taken) == [base * 1000 + n for base in range(8) for n in range(100)]
    for base in range(8):
        of_one_producer = [n for n in taken if n // 1000 == base]
        assert of_one_producer == sorted(of_one_producer)


def test_waiting_costs_no_cpu():
    empty, full = Pool(1, 1), Pool(1, 1)
    full.put("a")
    waiters = [gevent.spawn(empty.get) for _ in range(20)]
    waiters += [gevent.spawn(full.put, n) for n in range(20)]
    gevent.idle()

    before = time.process_time()
    gevent.sleep(0.5)
    spent = time.process_time() - before

    gevent.killall(waiters, timeout=5)
    # A spinning pool would spend the whole half second.
    assert spent < 0.1


class PoolAgainstAList(RuleBasedStateMachine):
    """A pool is a first-in, first-out list with a limit, whatever its buffers do."""

    def __init__(self):
        super().__init__()
        self.pool = Pool(3, 4, linger=0)
        self.model = []

    @precondition(lambda self: len(self.model) < 12)
    @rule(n=st.integers())
    def put(self, n):
        self.pool.put(n, timeout=0)
        self.model.append(n)

    @precondition(lambda self: self.model)
    @rule()
    def get(self):
        assert self.pool.get(timeout=0) == self.model.pop(0)

    @rule(n=st.integers())
    def push(self, n):
        pushed_out = self.pool.push(n)
        self.model.append(n)
        assert pushed_out == (len(self.model) > 12)
        self.model = self.model[-12:]

    @precondition(lambda self: len(self.model) == 12)
    @rule()
    def put_when_full(self):
        with pytest.raises(Full):
            self.pool.put(0, timeout=0)

    @precondition(lambda self: not self.model)
    @rule()
    def get_when_empty(self):
        with pytest.raises(Empty):
            self.pool.get(timeout=0)

    @invariant()
    def holds_between_one_and_max_buffers(self):
        figures = self.pool.figures()
        assert figures.total == len(self.model)
        assert max(1, -(-figures.total // 3)) <= figures.buffer_number <= 4


TestPoolAgainstAList = PoolAgainstAList.TestCase


@given(st.lists(st.sampled_from(["put", "get"]), max_size=60), st.integers(1, 3), st.integers(1, 3))
def test_waiters_never_sleep_through_their_turn(steps, capacity, buffers):
    pool = Pool(capacity, buffers)
    greenlets = [
        gevent.spawn(getattr(pool, step), *([1] if step == "put" else [])) for step in steps
    ]
    gevent.idle()
    gevent.idle()

    puts, gets = steps.count("put"), steps.count("get")
    done_gets = sum(g.ready() for g, step in zip(greenlets, steps, strict=True) if step == "get")
    done_puts = sum(g.ready() for g, step in zip(greenlets, steps, strict=True) if step == "put")
    gevent.killall(greenlets, timeout=5)

    assert done_gets == min(gets, puts)
    assert done_puts == min(puts, gets + capacity * buffers)
