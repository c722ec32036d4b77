"""Pipeline: processes an item step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..data import Item, is_item
from ..errors import DropItem, PipelineError, Unfinished
from .base import Module, name_of, one_of

#: Takes the user's value and returns the value for the next processor, or raises DropItem.
Processor = Callable[[Any], Any]


class Pipeline(Module):
    """
    Passes an item's value through the *processors*, in order.

    A processor owns the value while it works on it and may change it. When a processor fails,
    the next one gets the last valid value, unless *fail_fast* or Unfinished ends the item there.
    *keep* is called with the finished item, which has the request it came from.
    """

    letter = "P"
    error = PipelineError

    def __init__(
        self,
        *processors: Processor,
        fail_fast: bool = False,
        keep: Callable[[Item], object] = bool,
        **identity: Any,
    ) -> None:
        for number, process in enumerate(processors):
            if not callable(process):
                raise ValueError(
                    f"processor {number} must be a function of an item, not {process!r}"
                )
        super().__init__(**identity)
        self.processors = processors
        self.fail_fast = fail_fast
        self.keep = keep

    def send(self, item: Item) -> Item | None:
        """Return the item with the value of the last processor, or None if it was dropped."""
        with self._handling(item, Item, item.request if isinstance(item, Item) else None) as counts:
            try:
                item = Item(self._process(item.value), item.request)
            except DropItem:
                counts.dropped += 1
                return None
            self.keep(item)
            return item

    def _process(self, value: Any) -> Any:
        failures: list[BaseException] = []
        for process in self.processors:
            try:
                value = _checked(process(value), process)
            except DropItem:
                if not failures:
                    raise
                break  # the earlier failure counts, and is reported
            except Unfinished:
                raise
            except self.passing:
                raise
            except BaseException as failure:  # user code may raise anything
                failures.append(failure)
                if self.fail_fast:
                    break
        if failures:
            raise one_of(failures, "processors failed")
        return value

    def _extra(self) -> dict[str, Any]:
        return {
            "fail_fast": self.fail_fast,
            "processor_number": len(self.processors),
            "dropped": self.counts.dropped,
        }


def _checked(value: Any, process: Processor) -> Any:
    if is_item(value):
        return value
    raise TypeError(
        f"{name_of(process)} returned {value!r:.200}, not an item: return the item, or raise DropItem"
    )
