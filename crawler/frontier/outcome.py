"""How a request can end."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Outcome:
    """
    *status* is done, failed or refused; *reason* is the kind of failure or refusal.

    *detail* is for people: where a callback failed, and how.
    """

    status: str
    reason: str = ""
    detail: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.status}({self.reason})" if self.reason else self.status


DONE = Outcome("done")
#: Of a redirect hop that another frontier continues: it has not ended.
MOVED = Outcome("moved")


def failed(kind: str, detail: str = "") -> Outcome:
    return Outcome("failed", kind, detail)


def refused(reason: str) -> Outcome:
    return Outcome("refused", reason)
