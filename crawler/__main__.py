"""``python -m crawler``: monkey-patch, keep the heap, then the command line."""

import ctypes
from contextlib import suppress

from gevent import monkey

#: glibc's mallopt(): trim threshold, top pad, mmap threshold; bytes.
_KEEP_THE_HEAP = {-1: 256 << 20, -2: 16 << 20, -3: 256 << 20}


def main() -> None:
    monkey.patch_all()
    # An HTML parser frees a page at once, and glibc would give it back to the kernel each time.
    with suppress(OSError, AttributeError):
        for option, size in _KEEP_THE_HEAP.items():
            ctypes.CDLL(None).mallopt(option, size)
    from .cli import cli  # noqa: PLC0415 - nothing may be imported before the patch

    cli(prog_name="crawler")


if __name__ == "__main__":
    main()
