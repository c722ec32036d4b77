"""The benchmark of the pool."""

from crawler.bench.parts import pool


def test_the_promise_of_the_pool_is_about_its_median(monkeypatch):
    found = {"gevent Queue": [9.0] * 3, "Pool, empty": [1.0, 4.0, 5.0]}
    monkeypatch.setattr(pool.Child, "run", lambda *_: {"samples": found})

    [target] = pool.run(1, 3).targets

    assert (target.value, target.holds) == (4.0, False)
