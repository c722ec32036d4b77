"""
Where data wait between two stages.

A Buffer holds a few and never blocks; a Pool is made of buffers and blocks: the producer
when it is full, the consumer when it is empty. Neither knows anything of crawling.
"""

from .buffer import Buffer
from .pool import Pool, PoolFigures

__all__ = ["Buffer", "Pool", "PoolFigures"]
