"""LogQuery: which lines of a log are wanted."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from .log_index import LEVELS, LogIndex, LogLine

#: How many words of a query count.
_MOST_WORDS = 20
#: How many lines before and after a line are shown with it.
_AROUND = 50


@dataclass(frozen=True)
class LogQuery:
    """
    Lines with all *words*, of at least *level*, from *since* to *until*, about a request or host.

    *before* and *after* are numbers of lines: with *after* the next lines are found, else the last.
    *around* finds the lines around the one of that number, whatever else is asked for.
    """

    words: str = ""
    level: str = ""
    since: float | None = None
    until: float | None = None
    request: str = ""
    host: str = ""
    before: int = 0
    after: int = 0
    around: int = 0
    most: int = 200

    def lines(self, index: LogIndex) -> list[LogLine]:
        """Return the lines that are wanted, oldest first."""
        query, values = self._query()
        with index.open() as database:
            try:
                rows = database.execute(query, values).fetchall()
            except sqlite3.OperationalError as error:
                if "fts5" in str(error):  # a word that has no letter or digit
                    return []
                raise
        lines = [LogLine(*row) for row in rows]
        return lines if self.after or self.around else lines[::-1]

    @property
    def is_narrow(self) -> bool:
        """Whether some lines are left out."""
        texts = (self.words.strip(), self.level, self.request, self.host)
        return any(texts) or self.since is not None or self.until is not None

    def _query(self) -> tuple[str, list[object]]:
        conditions = list(self._conditions())
        where = " AND ".join(text for text, _ in conditions) or "1"
        values: list[object] = [value for _, found in conditions for value in found]
        table = "words JOIN log ON log.id = words.rowid" if self._match else "log"
        key = "words.rowid" if self._match else "log.id"
        order = "" if self.after or self.around else " DESC"
        limit = 2 * _AROUND + 1 if self.around else self.most
        end = f"ORDER BY {key}{order} LIMIT {int(limit)}"
        query = f"SELECT log.* FROM {table} WHERE {where.replace('KEY', key)} {end}"  # noqa: S608
        return query, values

    def _conditions(self) -> Iterator[tuple[str, tuple[object, ...]]]:
        if self.around:
            yield "KEY BETWEEN ? AND ?", (self.around - _AROUND, self.around + _AROUND)
            return
        if self._match:
            yield "words MATCH ?", (self._match,)
        if self.level == "INFO":
            yield "log.level >= 20", ()
        if self.since is not None:
            yield "KEY >= (SELECT id FROM log WHERE at >= ? ORDER BY at, id LIMIT 1)", (self.since,)
        if self.until is not None:
            first_after = "SELECT id FROM log WHERE at > ? ORDER BY at, id LIMIT 1"
            yield f"KEY < coalesce(({first_after}), 9e18)", (self.until,)
        if self.host:
            yield "log.host = ?", (self.host,)
        if self.request:
            yield "log.request = ?", (self.request,)
        if self.before:
            yield "KEY < ?", (self.before,)
        if self.after:
            yield "KEY > ?", (self.after,)

    @property
    def _match(self) -> str:
        """The query of FTS5: each word is quoted, so none of them is an operator."""
        if self.around:
            return ""
        words = [_quoted(word) for word in self.words.split()[:_MOST_WORDS]]
        if LEVELS.get(self.level, 0) > LEVELS["INFO"]:
            words.append(f"severity : {_quoted(self.level)}")
        words += [f"host : {_quoted(self.host)}"] if self.host else []
        words += [f"request : {_quoted(self.request)}"] if self.request else []
        return " AND ".join(words)


def _quoted(word: str) -> str:
    """Return *word* as a phrase; a star at its end finds all words that begin with it."""
    star = "*" if word.endswith("*") and len(word) > 1 else ""
    text = word.removesuffix("*").replace('"', '""').replace("\0", "")
    return f'"{text}"{star}'
