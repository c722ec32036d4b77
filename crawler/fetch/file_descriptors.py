"""File descriptors: their limit, and errors because none is left."""

from __future__ import annotations

import errno
import os

#: The errors of a process, or a machine, that has reached its limit.
_OUT = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS})


def is_out_of_descriptors(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno in _OUT


def none_left() -> bool:
    """Return whether this process cannot open a file right now."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return is_out_of_descriptors(error)
    return False


def limit() -> int:
    """Return the limit of this process; a common value on systems that do not report one."""
    try:
        import resource  # noqa: PLC0415 - not on every system

        soft: int = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    except ImportError:
        return 1024
    return soft
