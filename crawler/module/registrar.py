"""Registrar: all modules of a crawl, and the choice of the next one."""

from __future__ import annotations

from time import monotonic
from typing import TypeVar

from gevent.event import Event

from ..errors import NoModule
from .base import Module
from .mid import MID

M = TypeVar("M", bound=Module)


class Registrar:
    """Modules by kind, which is their class; they may be added and removed during a crawl."""

    def __init__(self) -> None:
        self._modules: dict[MID, Module] = {}
        #: By letter, the least recently chosen first, so that modules of equal score alternate.
        self._turns: dict[str, list[Module]] = {}
        self._registered = Event()

    def register(self, module: Module) -> None:
        if not isinstance(module, Module):
            raise ValueError(f"only a module can be registered, not {module!r}")
        if module.mid in self._modules:
            raise ValueError(
                f"a module {module.mid} is registered already: give this one another id"
            )
        self._modules[module.mid] = module
        self._turns.setdefault(module.letter, []).append(module)
        self._registered.set()

    def unregister(self, mid: MID | str) -> Module:
        """Remove the module and return it; its calls in flight still finish."""
        mid = MID.parse(mid) if isinstance(mid, str) else mid
        module = self._modules.pop(mid, None)
        if module is None:
            raise NoModule(f"no module {mid} is registered, only {self}")
        self._turns[module.letter].remove(module)
        return module

    def get(self, kind: type[M], timeout: float = 0.0) -> M:
        """Return the module of *kind* with the lowest score; wait *timeout* s for one to register."""
        try:
            letter = kind.letter
        except AttributeError:
            raise ValueError(f"{kind!r} is not a kind of module, such as Downloader") from None
        turns = self._turns.get(letter) or self._wait_for(kind, timeout)
        if len(turns) == 1:
            return turns[0]  # type: ignore[return-value]
        module = min(turns, key=lambda candidate: candidate.score)
        turns.remove(module)
        turns.append(module)
        return module  # type: ignore[return-value]

    def all(self, kind: type[M]) -> list[M]:
        """Return the modules of *kind* (Module is every kind), sorted by id."""
        modules = (module for module in self._modules.values() if isinstance(module, kind))
        return sorted(modules, key=lambda module: module.mid)

    def clear(self) -> None:
        self._modules.clear()
        self._turns.clear()

    def __len__(self) -> int:
        return len(self._modules)

    def __repr__(self) -> str:
        return f"<Registrar {', '.join(str(module.mid) for module in self.all(Module)) or 'empty'}>"

    def _wait_for(self, kind: type[Module], timeout: float) -> list[Module]:
        deadline = monotonic() + timeout
        while not (turns := self._turns.get(kind.letter)):
            self._registered.clear()
            if not self._registered.wait(max(0.0, deadline - monotonic())):
                raise NoModule(f"no {kind.__name__.lower()} is registered")
        return turns
