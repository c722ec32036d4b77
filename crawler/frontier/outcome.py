"""How a request can end."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Outcome:
    """*status* is done, failed or refused; *reason* is the kind of failure or refusal."""

    status: str
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.status}({self.reason})" if self.reason else self.status


DONE = Outcome("done")


def failed(kind: str) -> Outcome:
    return Outcome("failed", kind)


def refused(reason: str) -> Outcome:
    return Outcome("refused", reason)
