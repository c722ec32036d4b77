from contextlib import suppress
from queue import Empty, Full

import gevent
import pytest
from gevent import monkey
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from crawler.buffer import Pool, PoolFigures
from crawler.errors import PoolClosed

from ..cpu_time import is_idle


@pytest.mark.parametrize(
    ("capacity", "buffers", "complaint"),
    [(0, 1, "capacity must be at least 1"), (1, 0, "at least 1 buffer")],
)
def test_refuses_a_size_of_zero_and_names_it(capacity, buffers, complaint):
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


def test_removes_spare_buffers_while_one_datum_stays_inside():
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

    producer.get(timeout=120)
    assert pool.get() == "b"


def test_get_waits_for_a_datum():
    pool = Pool(1, 1)
    consumer = gevent.spawn(pool.get)
    gevent.idle()
    assert not consumer.ready()

    pool.put("a")

    assert consumer.get(timeout=120) == "a"


def test_waits_no_longer_than_the_timeout():
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


def test_close_returns_the_remaining_data_in_order():
    pool = Pool(2, 3)
    for n in range(5):
        pool.put(n)

    assert pool.close() == [0, 1, 2, 3, 4]
    assert pool.close() == []
    assert repr(pool).startswith("<Pool closed, 0 data")


def test_close_wakes_every_waiting_consumer():
    pool = Pool(1, 1)
    consumers = [gevent.spawn(pool.get) for _ in range(50)]
    gevent.idle()

    pool.close()

    assert len(gevent.joinall(consumers, timeout=120)) == 50
    assert all(isinstance(consumer.exception, PoolClosed) for consumer in consumers)


def test_close_wakes_every_waiting_producer_and_stores_nothing_of_theirs():
    pool = Pool(1, 1)
    pool.put("kept")
    producers = [gevent.spawn(pool.put, n) for n in range(50)]
    gevent.idle()

    left = pool.close()

    assert left == ["kept"]
    assert len(gevent.joinall(producers, timeout=120)) == 50
    assert all(isinstance(producer.exception, PoolClosed) for producer in producers)
    assert len(pool) == 0


@pytest.mark.parametrize("call", [lambda p: p.put(1), lambda p: p.get(), lambda p: p.push(1)])
def test_a_closed_pool_refuses_every_call(call):
    pool = Pool(1, 1)
    pool.close()

    with pytest.raises(PoolClosed), gevent.Timeout(120):
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
    consumer.kill(timeout=120)

    if consumer.value == "a":
        assert len(pool) == 0
    else:
        assert pool.get(timeout=120) == "a"
    pool.put("b", timeout=5)
    assert pool.get(timeout=120) == "b"


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
    gevent.joinall(workers, timeout=120, raise_error=True)

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

    idle = is_idle()

    gevent.killall(waiters, timeout=120)
    assert idle, "a spinning pool spends all the time"


class PoolAgainstAList(RuleBasedStateMachine):
    """A pool behaves as a bounded first-in, first-out list, whatever its buffers do."""

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
    gevent.killall(greenlets, timeout=120)

    assert done_gets == min(gets, puts)
    assert done_puts == min(puts, gets + capacity * buffers)


@given(
    st.lists(
        st.one_of(
            st.sampled_from(["put", "get", "put in time", "get in time", "yield"]),
            st.tuples(st.just("kill"), st.integers(0, 40)),
        ),
        max_size=60,
    )
)
def test_nothing_is_lost_however_waiters_end(steps):
    pool, put, got, greenlets = Pool(1, 2), [], [], []

    def work(step, datum):
        timeout = 0.0001 if step.endswith("in time") else None
        try:
            if step.startswith("put"):
                pool.put(datum, timeout)
                put.append(datum)
            else:
                got.append(pool.get(timeout))
        except (Empty, Full):
            pass

    for number, step in enumerate(steps):
        if step == "yield":
            gevent.sleep(0)
        elif isinstance(step, str):
            greenlets.append(gevent.spawn(work, step, number))
        elif greenlets:
            greenlets[step[1] % len(greenlets)].kill(block=False)
    gevent.sleep(0.001)
    gevent.idle()
    left = pool.close()
    gevent.joinall(greenlets, timeout=120)

    assert sorted(got + left) == sorted(put)


@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                ["put", "get", "put in time", "get in time", "push", "take first", "yield", "rest"]
            ),
            st.tuples(st.just("kill"), st.integers(0, 40)),
            st.just("close"),
        ),
        max_size=60,
    ),
    st.integers(1, 2),
    st.integers(1, 2),
)
@example(["get", "get", "yield", "put", "put", ("kill", 0), "yield"], 1, 1)
@example(["get", "get", "yield", "put", ("kill", 0), "yield"], 1, 1)
@example(["get", "get", "yield", ("kill", 0), "put", "yield"], 1, 1)
@example(["get", "yield", "put", "yield", "take first", "put", "yield"], 1, 1)
@example(["put", "put", "put", "yield", "get", ("kill", 1), "yield"], 1, 1)
@example(["put", "put", "put", "yield", "take first", ("kill", 1), "yield"], 1, 1)
@example(["get", "get", "yield", "push", "close"], 1, 1)
@example(["put", "put", "put", "yield", "take first", "close"], 1, 1)
@example(["get", "get in time", "yield", "push", "close", ("kill", 0), "yield"], 1, 1)
def test_no_greenlet_sleeps_while_its_condition_holds(steps, capacity, buffers):
    """Waiters that are killed, time out, see the pool close or are overtaken by others."""
    pool, greenlets, put, got, pushed_out = Pool(capacity, buffers), [], [], [], 0

    def work(step, datum):
        timeout = 0.0001 if step.endswith("in time") else None
        with suppress(Empty, Full, PoolClosed):
            if step.startswith("put"):
                pool.put(datum, timeout)
                put.append(datum)
            else:
                got.append(pool.get(timeout))

    for number, step in enumerate(steps):
        if step in ("put", "get", "put in time", "get in time"):
            greenlets.append((step, gevent.spawn(work, step, number)))
        elif isinstance(step, tuple) and greenlets:
            greenlets[step[1] % len(greenlets)][1].kill(block=False)
        elif step == "yield":
            gevent.sleep(0)
        elif step == "rest":
            gevent.sleep(0.0002)
        elif step == "close":
            got += pool.close()
        elif step == "push" and not pool.closed:
            pushed_out += pool.push(number)
            put.append(number)
        elif step == "take first" and len(pool):
            got.append(pool.get(timeout=0))
    gevent.sleep(0.001)
    gevent.idle()
    asleep = [step for step, greenlet in greenlets if not greenlet.ready()]

    assert not (pool.closed and asleep)
    assert not ("get" in asleep and len(pool))
    assert not ("put" in asleep and len(pool) < capacity * buffers)
    got += pool.close()
    assert len(gevent.joinall([one for _, one in greenlets], timeout=120)) == len(greenlets)
    assert len(set(got)) == len(got) == len(put) - pushed_out
    assert set(got) <= set(put)


def outrun(waiter, change_and_undo):
    """Wake *waiter* for data that are gone before it runs, until it has ended."""
    with gevent.Timeout(120):
        while not waiter.ready():
            change_and_undo()
            gevent.sleep(0.005)


def test_a_getter_overtaken_by_another_waits_no_longer_than_its_timeout():
    pool = Pool(1, 1)
    getter = gevent.spawn(pool.get, timeout=0.1)
    gevent.idle()

    outrun(getter, lambda: (pool.put("a"), pool.get()))

    assert isinstance(getter.exception, Empty)


def test_a_putter_overtaken_by_another_waits_no_longer_than_its_timeout():
    pool = Pool(1, 1)
    pool.put("a")
    putter = gevent.spawn(pool.put, "b", timeout=0.1)
    gevent.idle()

    outrun(putter, lambda: (pool.get(), pool.put("a")))

    assert isinstance(putter.exception, Full)
    assert pool.close() == ["a"]


def test_a_datum_at_the_last_moment_is_not_too_late():
    pool = Pool(1, 1)
    gevent.spawn_later(0.01, pool.put, "a")
    getter = gevent.spawn(pool.get, timeout=0.02)
    gevent.idle()

    # Both times are over before the hub handles either.
    monkey.get_original("time", "sleep")(0.05)

    assert getter.get(timeout=120) == "a"


def test_buffers_are_removed_without_a_look_at_their_number():
    pool = Pool(1, 4, linger=0)
    for n in range(4):
        pool.put(n)

    for _ in range(4):
        pool.get()

    assert len(pool._buffers) == 1


def test_buffers_that_have_been_empty_are_removed_when_their_number_is_read():
    pool = Pool(1, 4, linger=0.01)
    for n in range(4):
        pool.put(n)
    for _ in range(4):
        pool.get()

    gevent.sleep(0.02)

    assert pool.buffer_number == 1
