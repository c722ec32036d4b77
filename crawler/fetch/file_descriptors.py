"""Running out of file descriptors: nobody's fault but this process's."""

from __future__ import annotations

import errno
import os

#: What the system says when this process, or the machine, has as many as it may.
_OUT = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS})


def is_out_of_descriptors(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno in _OUT


def none_left() -> bool:
    """Say whether this process could not open anything right now."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return is_out_of_descriptors(error)
    return False


def limit() -> int:
    """Return how many this process may have; on systems that do not tell, what most allow."""
    try:
        import resource  # noqa: PLC0415 - not on every system

        soft: int = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    except ImportError:
        return 1024
    return soft
