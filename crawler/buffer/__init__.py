"""
Where data wait between two stages.

A Buffer holds a few data and never blocks. A Pool consists of buffers and blocks: the
producer while it is full, the consumer while it is empty. Neither depends on crawling.
"""

from .buffer import Buffer
from .pool import Pool, PoolFigures

__all__ = ["Buffer", "Pool", "PoolFigures"]
