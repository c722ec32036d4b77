"""A job directory: its state, its outputs, what it is about; and the view of one from outside."""

from .directory import Job
from .view import JobView

__all__ = ["Job", "JobView"]
