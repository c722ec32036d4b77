"""Standard input, output and error: that they are open, and what the user's code may print on them."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from typing import Any, TypeVar

T = TypeVar("T")
_END: Any = object()
_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def open_closed_streams() -> None:
    """
    Open the null device on those of the descriptors 0 to 2 that are closed.

    Otherwise the next files that are opened would get these numbers, and everything that is
    printed would be written into them. Descriptor 1 is opened for reading, so that a feed
    notices that it has no reader; what is printed by other means is lost.
    """
    closed = [number for number in range(3) if not _is_open(number)]
    for number in closed:
        flags = os.O_WRONLY if number == 2 else os.O_RDONLY
        os.set_inheritable(os.open(os.devnull, flags), True)  # the lowest number that is free
    # Only now: these files must not get one of the three numbers.
    for number in closed:
        name, mode = _STREAMS[number]
        setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115


def prints_to_stderr() -> redirect_stdout[Any]:
    """Return a context for the user's code: what it prints must not get among our own output."""
    return redirect_stdout(sys.stderr)


def printing_to_stderr(values: Iterable[T]) -> Iterator[T]:
    """Yield *values*; what the user's code prints to find them goes to stderr."""
    iterator = iter(values)
    while True:
        with prints_to_stderr():
            value = next(iterator, _END)
        if value is _END:
            return
        yield value


def _is_open(number: int) -> bool:
    try:
        fcntl.fcntl(number, fcntl.F_GETFD)
    except OSError:
        return False
    return True
