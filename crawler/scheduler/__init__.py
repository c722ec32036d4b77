"""
What drives a crawl.

The Scheduler's state says what may be done with it; a Run moves data between the pools
through modules the registrar chooses; the Monitor watches and ends a finished crawl.
"""

from .args import DataArgs, ModuleArgs, RequestArgs
from .monitor import Monitor
from .scheduler import Scheduler
from .status import Status
from .summary import Summary

__all__ = ["DataArgs", "ModuleArgs", "Monitor", "RequestArgs", "Scheduler", "Status", "Summary"]
