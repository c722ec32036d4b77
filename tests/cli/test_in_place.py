"""What is drawn in place is drawn over, whatever is printed and however the terminal is resized."""

import sys
from contextlib import contextmanager

import pytest
from rich.console import Console, Group
from rich.text import Text

from crawler.cli.in_place import InPlace

from .emulator import Emulator

WIDE, NARROW = 60, 25


@pytest.fixture
def screen():
    return Emulator(WIDE)


@pytest.fixture
def console(screen):
    return Console(file=screen, force_terminal=True, width=WIDE, height=40)


@contextmanager
def started(console):
    """Not a fixture: pytest replaces the streams again for each phase of a test."""
    streams = sys.stdout, sys.stderr
    place = InPlace(console)
    place.start()
    try:
        yield place
    finally:
        sys.stdout, sys.stderr = streams


def view(n):
    return Group(Text(f"{n} pages/s  2 in flight  17 queued  4 done"), Text("download 2/64"))


def resize(screen, console, width):
    screen.resize(width)
    console.size = (width, 40)


def test_each_drawing_replaces_the_one_before(screen, console):
    with started(console) as place:
        for n in range(5):
            place.draw(view(n))

    assert screen.text == "4 pages/s  2 in flight  17 queued  4 done\ndownload 2/64"


def test_what_is_printed_appears_above(screen, console):
    with started(console) as place:
        place.draw(view(1))
        print("a line")
        print("another", file=sys.stderr)
        place.draw(view(2))
        print("half", end="")
        place.draw(view(3))
        place.stop()

    assert screen.text == "a line\nanother\nhalf"


@pytest.mark.parametrize("width", [NARROW, 10, 100])
def test_a_terminal_of_another_width_has_no_stale_lines(screen, console, width):
    with started(console) as place:
        print("above")
        place.draw(view(1))
        resize(screen, console, width)
        place.draw(view(2))
        print("more")
        place.draw(view(3))
        resize(screen, console, WIDE)
        place.draw(view(4))
        shown = screen.text
        place.stop()

    assert shown == "above\nmore\n4 pages/s  2 in flight  17 queued  4 done\ndownload 2/64"
    assert screen.text == "above\nmore"


def test_a_low_terminal_shows_the_first_lines(screen, console):
    console.size = (WIDE, 3)

    with started(console) as place:
        for n in range(3):
            place.draw(Group(*(Text(f"{n} {line}") for line in range(9))))

    assert screen.text == "2 0\n2 1"


def test_the_streams_are_given_back(console):
    before = sys.stdout, sys.stderr
    place = InPlace(console)

    place.start()
    assert sys.stdout is not before[0]
    place.stop()

    assert (sys.stdout, sys.stderr) == before
