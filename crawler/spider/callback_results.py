"""What a callback or a hook returns, element by element; async def works without an event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Generator, Iterable, Iterator
from typing import Any

from ..data import Request, is_item

_NOTHING_TO_AWAIT = (
    "an async callback cannot await anything here: no event loop runs. Write self.fetch(url) and "
    "gevent.sleep(seconds) without await: other callbacks run meanwhile"
)


def results(value: Any) -> Generator[Any, None, None]:
    """
    Yield the elements of what a callback or a hook returned; None has none.

    A URL or an item is one element, although it may be iterable: mappings are, and so is
    every pydantic model. A callback may be a coroutine or an asynchronous generator.
    """
    if isinstance(value, Coroutine):
        value = finished(value)
    if value is None:
        return
    if isinstance(value, AsyncIterator):
        yield from driven(value)
    elif (
        isinstance(value, Request | str | bytes)
        or is_item(value)
        or not isinstance(value, Iterable)
    ):
        yield value
    else:
        yield from value


def driven(found: AsyncIterator[Any]) -> Iterator[Any]:
    """Yield what an asynchronous generator yields; it may not wait for anything."""
    while True:
        try:
            yield finished(anext(found))  # type: ignore[arg-type]  # an awaitable, used as one
        except StopAsyncIteration:
            return


def finished(step: Coroutine[Any, Any, Any]) -> Any:
    """Return the result of *step*; raise ValueError if it waits for something."""
    try:
        step.__await__().send(None)
    except StopIteration as result:
        return result.value
    except RuntimeError as error:
        if str(error) != "no running event loop":
            raise
        raise ValueError(_NOTHING_TO_AWAIT) from error
    step.close()
    raise ValueError(_NOTHING_TO_AWAIT)
