"""A process that parses pages keeps its heap: the command line and its children."""

import ctypes
import os
import subprocess
import sys

import gevent
import pytest

from crawler import __main__ as main
from crawler.module.remote import child_process as child

#: The options of mallopt() by their environment variables in glibc.
OPTIONS = {
    "MALLOC_TRIM_THRESHOLD_": -1,
    "MALLOC_TOP_PAD_": -2,
    "MALLOC_MMAP_THRESHOLD_": -3,
}

#: Prints whether a megabyte comes from the heap, and whether ten freed megabytes stay in it.
MEASURE = """
import ctypes

class Info(ctypes.Structure):
    names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in names.split()]

libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Info
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]

mapped = libc.mallinfo2().hblkhd
pieces = [libc.malloc(1 << 20) for _ in range(10)]
print("mapped" if libc.mallinfo2().hblkhd > mapped else "from the heap")
full = libc.mallinfo2().arena
for piece in pieces:
    libc.free(piece)
print("kept" if libc.mallinfo2().arena >= full else "given back")
"""

glibc = pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="only glibc has mallopt() and mallinfo2()"
)


def measured(*arguments, **environment):
    bare = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run(
        [sys.executable, *arguments],
        env=bare | environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    # The command line prints on stderr what a spider prints.
    return (done.stderr if "-m" in arguments else done.stdout).splitlines()[:2]


def test_a_child_keeps_as_much_as_the_command_line_does():
    sizes = {OPTIONS[name]: int(size) for name, size in child._KEEP_THE_HEAP.items()}

    assert sizes == main._KEEP_THE_HEAP


@glibc
def test_an_unprepared_process_maps_pages_anew():
    assert measured("-c", MEASURE) == ["mapped", "kept"]


@glibc
def test_the_command_line_keeps_the_heap(tmp_path):
    spider = tmp_path / "spider.py"
    spider.write_text(MEASURE + "\nfrom crawler import Spider\nclass Mine(Spider): pass\n")

    assert measured("-m", "crawler", "components", str(spider)) == ["from the heap", "kept"]


def said_by_a_child(script, capfd):
    one = child.ChildProcess([sys.executable, "-c", script])
    try:
        with pytest.raises(child.Disconnected), gevent.Timeout(120):
            one.receive()
    finally:
        one.close(5)
    return capfd.readouterr().err.splitlines()


@glibc
def test_a_child_keeps_the_heap(capfd):
    assert said_by_a_child(MEASURE, capfd) == ["from the heap", "kept"]


def test_the_users_own_malloc_settings_are_passed_to_a_child(capfd, monkeypatch):
    monkeypatch.setenv("MALLOC_TOP_PAD_", "4096")
    script = "import os\nfor name in sorted(os.environ):\n  if 'MALLOC' in name: print(name, os.environ[name])"

    assert said_by_a_child(script, capfd) == [
        f"MALLOC_MMAP_THRESHOLD_ {256 << 20}",
        "MALLOC_TOP_PAD_ 4096",
        f"MALLOC_TRIM_THRESHOLD_ {256 << 20}",
    ]
