"""The final report that a crawl has left in its job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..job.view import JobView


def final_report(view: JobView) -> Mapping[str, Any] | None:
    """Return the report of the last run of a job, or None if it does not hold any more."""
    report: Mapping[str, Any] | None = view.fact("report")
    # A report of an earlier run does not hold once the job has been continued.
    if view.user or report is None or report["commits"] != view.fact("commits"):
        return None
    return report
