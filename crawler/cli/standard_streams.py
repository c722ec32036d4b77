"""The descriptors of standard input, output and error."""

from __future__ import annotations

import fcntl
import os
import sys


def open_closed_streams() -> None:
    """
    Open the null device on those of the descriptors 0 to 2 that are closed.

    Otherwise the next files that are opened would get these numbers, and everything that is
    printed would be written into them. Descriptor 1 is opened for reading, so that a feed
    notices that it has no reader; what is printed by other means is lost.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if not _is_open(number):
            flags = os.O_WRONLY if number == 2 else os.O_RDONLY
            os.set_inheritable(os.open(os.devnull, flags), True)  # the lowest number that is free
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115


def _is_open(number: int) -> bool:
    try:
        fcntl.fcntl(number, fcntl.F_GETFD)
    except OSError:
        return False
    return True
