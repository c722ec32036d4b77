"""Files and images that items name: fetched as part of the crawl, each once."""

from .files_pipeline import FilesPipeline
from .images_pipeline import ImagesPipeline

__all__ = ["FilesPipeline", "ImagesPipeline"]
