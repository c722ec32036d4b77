"""Callbacks written with async def, run without an event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Coroutine, Iterator
from typing import Any


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
    step.close()
    raise ValueError(
        "an async callback cannot await anything here: no event loop runs. Call self.fetch(url) "
        "instead, without await: only this callback waits for it"
    )
