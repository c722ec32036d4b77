"""JSON Lines: one item a line."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any, Self


class JsonLines:
    """A processor that appends each item to a file, whole lines only."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.written = 0
        self._file = self.path.open("w", encoding="ascii")

    def __call__(self, item: Any) -> Any:
        value = dict(item) if not dataclasses.is_dataclass(item) else dataclasses.asdict(item)  # type: ignore[arg-type]
        self._file.write(json.dumps(value, default=str) + "\n")
        self.written += 1
        return item

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()
