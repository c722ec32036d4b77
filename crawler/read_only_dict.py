"""ReadOnlyDict: the meta and the cb_kwargs of a request."""

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
