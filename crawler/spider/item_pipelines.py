"""ItemPipelines: what is done to each item before it is written, as a spider or a project asks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import wraps
from importlib import import_module
from inspect import iscoroutinefunction, signature
from typing import Any

from .callback_results import finished
from .ignored_names import ignored_names

log = logging.getLogger(__name__)


class ItemPipelines:
    """
    The item pipelines of one crawl, in order.

    Each is a function of an item, or an object, a class or a factory of one, with
    ``process_item(item, spider)``, and perhaps ``open_spider(spider)`` and
    ``close_spider(spider)``. *spider* may be left out of each signature. A text such as
    "shop.pipelines:Clean" names one in a module.
    """

    def __init__(self, given: Iterable[Any], spider: Any) -> None:
        self._spider = spider
        self._pipelines = [_built(one) for one in given]
        self._opened = ExitStack()
        self.processors = [self._bound(_process(one)) for one in self._pipelines]

    def open(self) -> None:
        """Open them in order; if one fails, close those that are open."""
        try:
            for one in self._pipelines:
                _warn_of_ignored(one)
                self._call(one, "open_spider")
                self._opened.callback(self._close, one)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the open ones in reverse order, even if some of them fail."""
        self._opened.close()

    def _close(self, pipeline: Any) -> None:
        try:
            self._call(pipeline, "close_spider")
        except Exception:
            log.exception("%s.close_spider failed", type(pipeline).__name__)

    def _call(self, pipeline: Any, name: str) -> None:
        hook = getattr(pipeline, name, None)
        if hook is not None:
            _plain(hook)(*[self._spider][: _number_of_parameters(hook)])

    def _bound(self, process: Callable[..., Any]) -> Callable[[Any], Any]:
        """Return *process* as a function of the item alone, which errors name as before."""
        plain = _plain(process)
        if _number_of_parameters(process) < 2:
            return plain

        def processor(item: Any) -> Any:
            return plain(item, self._spider)

        processor.__qualname__ = getattr(process, "__qualname__", repr(process))
        return processor


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return *function*; one that is ``async def`` is run to its end, and may not wait."""
    if not iscoroutinefunction(function):
        return function

    @wraps(function)
    def plain(*arguments: Any) -> Any:
        return finished(function(*arguments))

    return plain


def _warn_of_ignored(pipeline: Any) -> None:
    for sentence in ignored_names(pipeline):
        log.warning("%s", sentence)
    for hook in ("open", "close"):
        if hasattr(pipeline, hook) and not hasattr(pipeline, f"{hook}_spider"):
            name = type(pipeline).__name__
            log.warning("%s.%s() is never called: write %s_spider(self)", name, hook, hook)


def _built(given: Any) -> Any:
    """Return *given*; import what a text names, and call a class, so that its state is one crawl's."""
    if isinstance(given, str):
        given = _imported(given)
    return _instance(given) if isinstance(given, type) else given


def _instance(kind: type) -> Any:
    """Return a pipeline of *kind*; it gets nothing of the crawl but the spider, in open_spider()."""
    has_factory = hasattr(kind, "from_crawler")
    ignored = f"{kind.__name__}.from_crawler() is never called: " if has_factory else ""
    remedy = f"name an instance in pipelines, such as {kind.__name__}(…)"
    if _number_of_parameters(kind):
        raise ValueError(f"{ignored}the pipeline {kind.__name__} needs arguments: {remedy}")
    if has_factory:
        log.warning("%s%s", ignored, remedy)
    return kind()


def _imported(place: str) -> Any:
    module, _, name = place.partition(":")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(
            f"pipelines: {place!r} must be MODULE:NAME, such as shop.pipelines:Clean ({error})"
        ) from None


def _process(pipeline: Any) -> Callable[..., Any]:
    process = getattr(pipeline, "process_item", pipeline)
    if not callable(process):
        raise ValueError(
            f"a pipeline must be a function of an item, or have process_item(), not {pipeline!r}"
        )
    return process  # type: ignore[no-any-return]


def _number_of_parameters(function: Callable[..., Any]) -> int:
    """Return how many arguments *function* must get; 1 if it does not say."""
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    return sum(
        one.default is one.empty and one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
        for one in parameters
    )
