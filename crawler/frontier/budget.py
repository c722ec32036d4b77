"""Where a crawl ends, however much there is left."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Budget:
    """
    What a whole crawl may cost; None is no limit.

    When it is used up nothing new is taken, and what waits is settled as refused with the limit's
    name. *min_rate* is pages a second: a crawl that stays below it for *patience* seconds
    is cut off as ``slow``. *bandwidth*, in bytes a second, is kept to, not a reason to stop.
    """

    pages: int | None = None
    bytes: int | None = None
    seconds: float | None = None
    errors: int | None = None
    min_rate: float | None = None
    patience: float = 60.0
    bandwidth: float | None = None

    def __post_init__(self) -> None:
        for name in (f.name for f in fields(self)):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be more than 0, or None, not {value!r}")
