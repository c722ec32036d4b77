"""
The Scheduler and its parts, which drive a crawl.

The status of a Scheduler decides which calls are allowed; a Run moves data between the pools
through modules that the registrar chooses; a Monitor watches a crawl and stops it when it has
finished.
"""

from .args import DataArgs, ModuleArgs, RequestArgs
from .monitor import Monitor
from .scheduler import Scheduler
from .status import Status
from .summary import Summary

__all__ = ["DataArgs", "ModuleArgs", "Monitor", "RequestArgs", "Scheduler", "Status", "Summary"]
