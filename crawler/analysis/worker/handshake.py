"""Introduction: how a child gets to know the spider."""

from __future__ import annotations

import importlib.util
import io
import logging
import pickle
import sys
from collections.abc import Collection
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

from ...errors import StateError
from ...module.remote.frames import Frame, pack
from ...spider import Spider

#: Nothing of the user's is found before the crawler is imported: a calendar.py, say, is no module
#: of the standard library.
_START = """\
import gc, sys
gc.disable()
sys.path.insert(0, sys.argv[1])
from crawler.analysis.worker.main import main
main()
"""
#: What the program is called in a child: what stands below `if __name__ == "__main__"` is not run.
_PROGRAM = "__crawler_program__"

_child = False


def command() -> list[str]:
    """Return how to start a child with this very crawler."""
    return [sys.executable, "-P", "-c", _START, str(Path(__file__).absolute().parents[3])]


def introduction(spider: Spider, middlewares: Collection[Any]) -> bytes:
    """Return what to tell a child of *spider*, as it is now, and the *middlewares* of the crawl."""
    try:
        pickled = pickle.dumps((spider, list(middlewares)))
    except Exception as error:  # objects may object in any way
        raise ValueError(
            f"{spider!r} and its middlewares cannot be copied to another process: {error}. Make "
            "such things in open(), or crawl with analyzers=0"
        ) from error
    modules = {name: _file_of(name) for name in ("__main__", type(spider).__module__)}
    if type(spider).__module__ == "__main__" and modules["__main__"] is None:
        raise ValueError(
            f"{spider!r} was not read from a file, so no other process can have it: put it into "
            "one, or crawl with analyzers=0"
        )
    root = logging.getLogger()
    told = {
        "modules": modules,
        "package": sys.modules["__main__"].__package__,
        "path": [str(Path(place).absolute()) for place in sys.path],
        "arguments": sys.argv,
        "level": root.level if root.handlers else None,
    }
    return pack(told, pickled)


def _file_of(module: str) -> str | None:
    file = Path(getattr(sys.modules[module], "__file__", None) or "").absolute()
    return str(file) if file.is_file() else None


def introduced(frame: Frame) -> tuple[Spider, list[Any]]:
    """Be a child from now on; return the spider and the middlewares."""
    global _child  # noqa: PLW0603 - it is so for all of the process
    _child = True
    told, pickled = frame
    sys.path[:], sys.argv[:] = told["path"], told["arguments"]
    if told["level"] is not None:
        logging.basicConfig(
            level=told["level"], format="%(asctime)s %(levelname)s %(name)s: %(message)s"
        )
    spider, middlewares = _Reader(pickled, told).load()
    return spider, middlewares


def refuse_in_a_child() -> None:
    """Raise a StateError if this process analyses for another."""
    if _child:
        raise StateError(
            "a process that analyses for a crawl cannot begin another: in the program that it "
            'reads its spider from, crawl below `if __name__ == "__main__":`'
        )


class _Reader(pickle.Unpickler):
    """Finds what is in the program, or in a file that was not imported by way of sys.path."""

    def __init__(self, pickled: bytes, told: dict[str, Any]) -> None:
        super().__init__(io.BytesIO(pickled))
        self._told = told

    def find_class(self, module: str, name: str) -> Any:
        file = self._told["modules"].get(module)
        if file is not None and module == "__main__":
            package = self._told["package"]
            module = f"{package}.{_PROGRAM}" if package else _PROGRAM
        if file is not None and not _leads_to(file, module):
            _read(module, file)
        return super().find_class(module, name)


def _leads_to(file: str, module: str) -> bool:
    """Say if *module* is that of *file*, or would be when imported."""
    try:
        found = sys.modules.get(module) or importlib.util.find_spec(module)
    except ModuleNotFoundError:
        return False
    place = getattr(found, "origin", None) or getattr(found, "__file__", None)
    return place is not None and Path(place).exists() and Path(place).samefile(file)


def _read(name: str, file: str) -> None:
    """Import *file* under a *name* that does not lead to it."""
    loader = SourceFileLoader(name, file)
    spec = importlib.util.spec_from_file_location(name, file, loader=loader)
    if spec is None:
        raise ImportError(f"{file} cannot be read as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader.exec_module(module)
