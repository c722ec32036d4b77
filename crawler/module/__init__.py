"""
What is done to data.

A Downloader turns a request into a response, an Analyzer turns a response into requests and
items, and a Pipeline processes an item. The Registrar returns the module with the lowest score.
"""

from typing import TYPE_CHECKING

from .._lazy_import import lazy_names
from .analyzer import Analyzer
from .base import Module, ModuleSummary
from .downloader import Downloader
from .mid import MID, Address, SerialNumbers
from .pipeline import Pipeline
from .registrar import Registrar
from .score import Counts, classic_score, load_score

if TYPE_CHECKING:
    from .remote.analyzer import ChildError, RemoteAnalyzer

__all__ = [
    "MID",
    "Address",
    "Analyzer",
    "ChildError",
    "Counts",
    "Downloader",
    "Module",
    "ModuleSummary",
    "Pipeline",
    "Registrar",
    "RemoteAnalyzer",
    "SerialNumbers",
    "classic_score",
    "load_score",
]

__getattr__ = lazy_names(
    __name__, {"ChildError": "remote.analyzer", "RemoteAnalyzer": "remote.analyzer"}
)
