"""InPlace: the last lines of a terminal, drawn again and again below everything else."""

from __future__ import annotations

import sys

from rich.console import (
    Console,
    ConsoleOptions,
    ConsoleRenderable,
    RenderableType,
    RenderHook,
    RenderResult,
)
from rich.control import Control
from rich.file_proxy import FileProxy
from rich.segment import ControlType, Segment

_NOTHING = Control()


class InPlace(RenderHook):
    """
    Draws over what it has drawn before; all that is printed meanwhile appears above it.

    A terminal that becomes narrower breaks the lines that are longer than it, so the number of
    rows to draw over is computed from their lengths and the width at that moment.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._content: RenderableType = _NOTHING
        #: The lengths of the lines on the terminal.
        self._lengths: list[int] = []
        self._streams = sys.stdout, sys.stderr

    def start(self) -> None:
        self._streams = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = (FileProxy(self._console, stream) for stream in self._streams)
        self._console.push_render_hook(self)
        self._console.show_cursor(False)

    def stop(self) -> None:
        """Remove what is drawn."""
        for proxy in (sys.stdout, sys.stderr):
            proxy.flush()
        sys.stdout, sys.stderr = self._streams
        self.draw(_NOTHING)
        self._console.pop_render_hook()
        self._console.show_cursor(True)

    def draw(self, content: RenderableType) -> None:
        self._content = content
        self._console.print(_NOTHING)

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [self._erased(), *renderables, self]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self._content is _NOTHING:
            self._lengths = []
            return
        lines = console.render_lines(self._content, options, pad=False)
        lines = lines[: max(1, options.size.height - 1)]
        self._lengths = [Segment.get_line_length(line) for line in lines]
        for number, line in enumerate(lines):
            if number:
                yield Segment.line()
            yield from line

    def _erased(self) -> Control:
        width = max(1, self._console.width)
        rows = sum(max(1, -(-length // width)) for length in self._lengths)
        if not rows:
            return _NOTHING
        erased = (ControlType.ERASE_IN_LINE, 2)
        above = ((ControlType.CURSOR_UP, 1), erased) * (rows - 1)
        return Control(ControlType.CARRIAGE_RETURN, erased, *above)
