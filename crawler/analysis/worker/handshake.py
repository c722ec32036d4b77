"""Handshake: how a worker process gets its copy of the spider."""

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

#: The crawler is imported before the user's directories are in sys.path: a calendar.py there, say,
#: must not hide the module of the standard library.
_START = """\
import gc, sys
gc.disable()
sys.path.insert(0, sys.argv[1])
from crawler.analysis.worker.main import main
main()
"""
#: The name of the program in a worker: what is below `if __name__ == "__main__"` does not run.
_PROGRAM = "__crawler_program__"

_is_worker = False


def command() -> list[str]:
    """Return the command that starts a worker with the same crawler package."""
    return [sys.executable, "-P", "-c", _START, str(Path(__file__).absolute().parents[3])]


def greeting(spider: Spider, middlewares: Collection[Any]) -> bytes:
    """Return the frame that describes *spider*, as it is now, and the crawl's *middlewares*."""
    try:
        pickled = pickle.dumps((spider, list(middlewares)))
    except Exception as error:  # user code may raise anything while it is pickled
        raise ValueError(
            f"{spider!r} and its middlewares cannot be copied to another process: {error}. Create "
            "what cannot be copied in open(), or crawl with analyzers=0"
        ) from error
    modules = {name: _file_of(name) for name in ("__main__", type(spider).__module__)}
    if type(spider).__module__ == "__main__" and modules["__main__"] is None:
        raise ValueError(
            f"{spider!r} was not read from a file, so no other process can import it: put it "
            "into a file, or crawl with analyzers=0"
        )
    description = {
        "modules": modules,
        "package": sys.modules["__main__"].__package__,
        "path": [str(Path(directory).absolute()) for directory in sys.path],
        "arguments": sys.argv,
        "level": logging.getLogger().level,
    }
    return pack(description, pickled)


def _file_of(module: str) -> str | None:
    file = Path(getattr(sys.modules[module], "__file__", None) or "").absolute()
    return str(file) if file.is_file() else None


def accept_greeting(frame: Frame) -> tuple[Spider, list[Any]]:
    """Make this process a worker, for the rest of its life; return spider and middlewares."""
    global _is_worker  # noqa: PLW0603 - it is true of the whole process
    _is_worker = True
    description, pickled = frame
    sys.path[:], sys.argv[:] = description["path"], description["arguments"]
    spider, middlewares = _SpiderUnpickler(pickled, description).load()
    return spider, middlewares


def refuse_in_a_worker() -> None:
    """Raise a StateError if this process is a worker."""
    if _is_worker:
        raise StateError(
            "a process that analyses pages for a crawl cannot start another crawl: in the program "
            'that defines the spider, crawl below `if __name__ == "__main__":`'
        )


class _SpiderUnpickler(pickle.Unpickler):
    """Finds classes in the program, and in files that were not imported through sys.path."""

    def __init__(self, pickled: bytes, description: dict[str, Any]) -> None:
        super().__init__(io.BytesIO(pickled))
        self._files: dict[str, str | None] = description["modules"]
        self._package: str | None = description["package"]

    def find_class(self, module: str, name: str) -> Any:
        file = self._files.get(module)
        if file is not None and module == "__main__":
            module = f"{self._package}.{_PROGRAM}" if self._package else _PROGRAM
        if file is not None and not _is_imported_from(module, file):
            _import_file(module, file)
        return super().find_class(module, name)


def _is_imported_from(module: str, file: str) -> bool:
    """Return whether *module* was imported from *file*, or would be."""
    try:
        found = sys.modules.get(module) or importlib.util.find_spec(module)
    except ModuleNotFoundError:
        return False
    path = getattr(found, "origin", None) or getattr(found, "__file__", None)
    return path is not None and Path(path).exists() and Path(path).samefile(file)


def _import_file(name: str, file: str) -> None:
    """Import *file* as the module *name*, by which the import system does not find it."""
    loader = SourceFileLoader(name, file)
    spec = importlib.util.spec_from_file_location(name, file, loader=loader)
    if spec is None:
        raise ImportError(f"{file} cannot be imported as Python")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader.exec_module(module)
