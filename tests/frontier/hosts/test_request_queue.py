from hypothesis import given
from hypothesis import strategies as st

from crawler.data import Link, Request
from crawler.frontier.hosts.request_queue import RequestQueue

FOUND = st.one_of(
    st.builds(lambda depth: Link("http://a/", depth, "http://b/"), st.integers(0, 3)),
    st.builds(
        lambda depth, priority: Request("http://a/", depth=depth, priority=priority),
        st.integers(0, 3),
        st.integers(-2, 2),
    ),
)


def test_a_link_becomes_a_request_when_its_turn_comes():
    queue = RequestQueue()
    queue.put(Link("http://a/", 3, "http://b/"))

    request = queue.get()

    assert (request.url, request.depth, request.found_on) == ("http://a/", 3, "http://b/")
    assert len(queue) == 0


def test_a_request_keeps_its_identity():
    queue = RequestQueue()
    request = Request("http://a/")
    queue.put(request)

    assert queue.get() is request


def test_what_is_put_first_goes_before_its_equals_only():
    queue = RequestQueue()
    queue.put(Request("http://a/nearer", depth=0))
    queue.put(Request("http://a/old", depth=1))

    queue.put_first(Request("http://a/first", depth=1))

    assert [r.url for r in queue.drain()] == ["http://a/nearer", "http://a/first", "http://a/old"]


@given(st.lists(st.one_of(FOUND, st.none()), max_size=200))
def test_hands_out_as_a_stable_sort_would(steps):
    queue, model = RequestQueue(), []

    for n, found in enumerate(steps):
        if found is not None:
            queue.put(found)
            model.append((-found.priority, found.depth, n))
        elif model:
            expected = min(model)
            model.remove(expected)
            got = queue.get()
            assert (-got.priority, got.depth) == expected[:2]
        assert len(queue) == len(model)

    assert [(-r.priority, r.depth) for r in queue.drain()] == [m[:2] for m in sorted(model)]
