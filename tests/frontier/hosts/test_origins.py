from crawler.frontier.hosts import origins as module
from crawler.frontier.hosts.origins import DeadOrigins, FailingOrigin


def test_a_rest_is_only_made_longer():
    failing = FailingOrigin()
    failing.rest(10.0, "connect")
    failing.put_off = 5

    failing.rest(5.0, "timeout")
    assert (failing.rests_until, failing.put_off) == (10.0, 5)

    failing.rest(20.0, "timeout")
    assert (failing.rests_until, failing.put_off, failing.why) == (20.0, 0, "timeout")


def test_urls_that_are_unavailable_count_once_each_up_to_a_number():
    failing = FailingOrigin()

    assert failing.add_unavailable("http://a.test/1")
    assert not failing.add_unavailable("http://a.test/1")
    assert failing.add_unavailable("http://a.test/2")
    for n in range(1000):
        assert failing.add_unavailable(f"http://a.test/more/{n}")
    assert len(failing.unavailable) < 100


def test_the_memory_of_dead_origins_is_bounded_and_the_first_goes_first(monkeypatch):
    monkeypatch.setattr(module, "_MOST_DEAD", 100)
    dead = DeadOrigins()

    for n in range(1000):
        dead.add(f"http://{n}.test", "no")

    assert list(dead) == [f"http://{n}.test" for n in range(900, 1000)]
