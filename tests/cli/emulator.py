"""Emulator: what a terminal shows, for the few control sequences that the command line uses."""

import re

#: A control sequence, a line break, or the text between two of them.
_PARTS = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|(\r|\n)|([^\x1b\r\n]+)")


class Emulator:
    """
    A terminal of *width* columns without an end; resize() breaks its lines anew, as most do.

    Each row is its text, and whether the row after it continues the same line.
    """

    def __init__(self, width):
        self.width = width
        self.rows = [["", False]]
        self.row = self.column = 0

    @property
    def text(self):
        return "\n".join(text.rstrip() for text, _ in self.rows).rstrip("\n")

    def write(self, text):
        for number, letter, ends, plain in _PARTS.findall(text):
            if plain:
                self._put(plain)
            elif ends == "\r":
                self.column = 0
            elif ends == "\n":
                self.rows[self.row][1] = False
                self._next_row()
            elif letter == "A":
                self.row = max(0, self.row - int(number or 1))
            elif letter == "K":
                self.rows[self.row] = ["", False]
            else:
                assert letter in "mhl", f"unknown: {number}{letter}"
        return len(text)

    def flush(self):
        pass

    def isatty(self):
        return True

    def resize(self, width):
        """Break the lines anew; the cursor stays behind the text that it is behind."""
        lines, line = [], ""
        for text, continues in self.rows[: self.row + 1]:
            line += text
            if not continues:
                lines.append(line)
                line = ""
        self.width, self.rows, self.row, self.column = width, [["", False]], 0, 0
        self.write("\n".join([*lines, line] if line else lines))

    def _put(self, text):
        for character in text:
            if self.column == self.width:
                self.rows[self.row][1] = True
                self._next_row()
            before = self.rows[self.row][0].ljust(self.column)
            self.rows[self.row][0] = before[: self.column] + character + before[self.column + 1 :]
            self.column += 1

    def _next_row(self):
        self.row, self.column = self.row + 1, 0
        if self.row == len(self.rows):
            self.rows.append(["", False])
