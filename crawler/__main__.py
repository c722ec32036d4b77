"""``python -m crawler``: the command line, in a process prepared for crawling."""

import ctypes
from contextlib import suppress

from .cli import main as run
from .cli.standard_streams import open_closed_streams
from .cli.unblocked_stream import unblocked_stderr

#: glibc's mallopt(): trim threshold, top pad, mmap threshold; bytes.
_KEEP_THE_HEAP = {-1: 256 << 20, -2: 16 << 20, -3: 256 << 20}


def main() -> None:
    open_closed_streams()
    with unblocked_stderr():
        run(_prepare)


def _prepare() -> None:
    """Patch the standard library and configure malloc, before crawling code is imported."""
    _patch()
    # An HTML parser frees a whole page at once, and glibc would return it to the kernel each time.
    with suppress(OSError, AttributeError):
        for option, size in _KEEP_THE_HEAP.items():
            ctypes.CDLL(None).mallopt(option, size)


def _patch() -> None:
    """Patch the standard library, and read the metadata of all packages once for gevent's plugins.

    gevent itself would read it about 25 times, which takes longer than all the patches.
    """
    # `crawler --help` needs neither.
    from importlib import metadata  # noqa: PLC0415

    from gevent import monkey  # noqa: PLC0415

    scan, installed = metadata.entry_points, metadata.entry_points()
    metadata.entry_points = installed.select
    try:
        monkey.patch_all()
    finally:
        metadata.entry_points = scan


if __name__ == "__main__":
    main()
