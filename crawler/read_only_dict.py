"""ReadOnlyDict and RequestMeta: the meta and the cb_kwargs of a request."""

from __future__ import annotations

from typing import Any, NoReturn


class ReadOnlyDict(dict[str, Any]):
    """A dict that cannot be changed; the error names what to write instead."""

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(
            "a request cannot be changed: give meta= and cb_kwargs= to the new request, or "
            "write request.replace(meta={**request.meta, …})"
        )

    __setitem__ = __delitem__ = __ior__ = update = setdefault = _refuse
    pop = popitem = clear = _refuse

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        """Let copy() and deepcopy() make a dict that can be changed."""
        return dict, (dict(self),)


#: Keys that Scrapy's own middlewares write into meta, and where to find the same here.
_ELSEWHERE = {
    "depth": "request.depth, or response.meta",
    "download_latency": "response.elapsed",
    "link_text": "a callback that follows the links itself: response.follow(a, meta={…})",
    "redirect_times": "len(request.redirects), or response.meta",
    "redirect_urls": "request.redirects, or response.meta",
    "retry_times": "len(request.attempts), or response.meta",
}


class RequestMeta(ReadOnlyDict):
    """A meta that raises for a key of Scrapy's own, which would never be there."""

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self or name in _ELSEWHERE else default

    def __missing__(self, name: str) -> NoReturn:
        instead = _ELSEWHERE.get(name)
        raise KeyError(
            f"{name!r} is not in the meta of a request: use {instead}" if instead else name
        )
