from queue import Empty, Full

import pytest

from crawler.buffer import Buffer
from crawler.errors import BufferClosed


@pytest.mark.parametrize("capacity", [0, -1])
def test_refuses_a_capacity_below_one_and_names_it(capacity):
    with pytest.raises(ValueError, match=f"capacity must be at least 1, not {capacity}"):
        Buffer(capacity)


def test_gives_back_in_the_order_put():
    buffer = Buffer(3)

    for n in (1, 2, 3):
        buffer.put(n)

    assert [buffer.get() for _ in range(3)] == [1, 2, 3]


def test_raises_at_once_when_it_is_full_or_empty():
    buffer = Buffer(1)

    with pytest.raises(Empty):
        buffer.get()
    buffer.put("a")
    with pytest.raises(Full):
        buffer.put("b")

    assert repr(buffer) == "<Buffer open, 1/1 data>"


def test_refuses_none():
    with pytest.raises(ValueError, match="None is not a datum"):
        Buffer(1).put(None)


def test_can_be_drained_after_close_but_not_filled():
    buffer = Buffer(3)
    buffer.put("a")
    buffer.put("b")
    buffer.close()
    buffer.close()

    with pytest.raises(BufferClosed):
        buffer.put("c")
    assert [buffer.get(), buffer.get()] == ["a", "b"]
    with pytest.raises(BufferClosed):
        buffer.get()
    assert repr(buffer) == "<Buffer closed, 0/3 data>"
