"""What users get: items written to files as they come."""

from .jsonl import JsonLines

__all__ = ["JsonLines"]
