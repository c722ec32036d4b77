"""The page of a job as one file: no script, no network, its styles inside."""

from __future__ import annotations

import hashlib
from base64 import b64encode

from ..job.view import JobView
from .figures import of_job
from .rendering import render, sections, static

#: The sections that make sense once a crawl is over.
_SECTIONS = ("status", "queue", "limit", "speed", "outcomes", "codes", "hosts", "errors")


def job_page(view: JobView) -> str:
    run, style = of_job(view), static("style.css")
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return render(
        "job.html",
        run=run,
        parts=sections(run, _SECTIONS, is_live=False, has_stories=False),
        style=style,
        policy=f"default-src 'none'; style-src 'sha256-{digest}'",
    )
