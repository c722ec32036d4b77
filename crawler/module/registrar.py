"""Registrar: every module of a crawl, and the one to turn to next."""

from __future__ import annotations

from time import monotonic
from typing import TypeVar

from gevent.event import Event

from ..errors import NoModule
from .base import Module
from .mid import MID

M = TypeVar("M", bound=Module)


class Registrar:
    """Modules may come and go while a crawl runs; the class is the key to their kind."""

    def __init__(self) -> None:
        self._modules: dict[MID, Module] = {}
        #: By letter, the least recently chosen first, so that equals take turns.
        self._turns: dict[str, list[Module]] = {}
        self._arrived = Event()

    def register(self, module: Module) -> None:
        if not isinstance(module, Module):
            raise ValueError(f"only a module can be registered, not {module!r}")
        if module.mid in self._modules:
            raise ValueError(
                f"a module {module.mid} is registered already: give this one another id"
            )
        self._modules[module.mid] = module
        self._turns.setdefault(module.letter, []).append(module)
        self._arrived.set()

    def unregister(self, mid: MID | str) -> Module:
        """Forget the module, which finishes what it has in hand, and return it."""
        mid = MID.parse(mid) if isinstance(mid, str) else mid
        module = self._modules.pop(mid, None)
        if module is None:
            raise NoModule(f"no module {mid} is registered, only {self}")
        self._turns[module.letter].remove(module)
        return module

    def get(self, kind: type[M], timeout: float = 0.0) -> M:
        """Return the module of *kind* with the lowest score; wait *timeout* for one to arrive."""
        try:
            letter = kind.letter
        except AttributeError:
            raise ValueError(f"{kind!r} is no kind of module, such as Downloader") from None
        turns = self._turns.get(letter) or self._arrivals(kind, timeout)
        if len(turns) == 1:
            return turns[0]  # type: ignore[return-value]
        module = min(turns, key=lambda candidate: candidate.score)
        turns.remove(module)
        turns.append(module)
        return module  # type: ignore[return-value]

    def all(self, kind: type[M]) -> list[M]:
        """Return the modules of *kind* (of Module: all), in the order of their ids."""
        modules = (module for module in self._modules.values() if isinstance(module, kind))
        return sorted(modules, key=lambda module: module.mid)

    def clear(self) -> None:
        self._modules.clear()
        self._turns.clear()

    def __len__(self) -> int:
        return len(self._modules)

    def __repr__(self) -> str:
        return f"<Registrar {', '.join(str(module.mid) for module in self.all(Module)) or 'empty'}>"

    def _arrivals(self, kind: type[Module], timeout: float) -> list[Module]:
        deadline = monotonic() + timeout
        while not (turns := self._turns.get(kind.letter)):
            self._arrived.clear()
            if not self._arrived.wait(max(0.0, deadline - monotonic())):
                raise NoModule(f"no {kind.__name__.lower()} is registered")
        return turns
