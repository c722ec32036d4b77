"""ImagesPipeline: fetches the images that items name, and makes thumbnails of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import gevent
from gevent.lock import BoundedSemaphore

from .._distribution import install_command
from .files_pipeline import FilesPipeline

#: The formats that are read: no others, since some run programs (EPS), decode a whole image before
#: its size is known (ICO), or are rarely tested.
_FORMATS = ("BMP", "GIF", "JPEG", "PNG", "TIFF", "WEBP")
#: A larger image takes more than 800 MB, with its thumbnails.
_MOST_PIXELS = 64_000_000
#: Width and height in pixels.
Size = tuple[int, int]


class ImagesPipeline(FilesPipeline):
    """
    A FilesPipeline for images: *image_urls* and *images*, with *width* and *height* in a result.

    A file that is not an image (not_an_image), is smaller than *min_size* (too_small) or has more
    than 64 million pixels (too_large) fails and is removed. *thumbs* maps
    names to sizes: ``{"small": (100, 100)}`` writes a JPEG file, at most as large, to the
    directory "thumbs/small", and its path to *thumbs* in the result. Needs Pillow.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str] = "images",
        *,
        thumbs: Mapping[str, Size] | None = None,
        min_size: Size = (0, 0),
        urls_field: str = "image_urls",
        results_field: str = "images",
    ) -> None:
        super().__init__(directory, urls_field=urls_field, results_field=results_field)
        self._image: Any = _pillow()
        self._min_size = min_size
        #: Images are decoded one at a time: a few kilobytes may be one of 64 million pixels.
        self._decoding = BoundedSemaphore()
        self._thumbs = {_checked(name): size for name, size in (thumbs or {}).items()}

    def process_file(self, result: dict[str, Any]) -> dict[str, Any]:
        # In a thread: to decode an image takes long. It must not raise what the hub would print.
        pool = gevent.get_hub().threadpool
        with self._decoding:
            made = pool.apply(self._made_or_error, (Path(result["path"]),))
        if isinstance(made, ValueError):
            Path(result["path"]).unlink(missing_ok=True)
        if isinstance(made, Exception):
            raise made
        return result | made

    def _made_or_error(self, path: Path) -> dict[str, Any] | Exception:
        try:
            return self._made(path)
        except Exception as error:
            return error

    def _made(self, path: Path) -> dict[str, Any]:
        """Return the size of an image, and its thumbnails; raise ValueError if it is not wanted."""
        try:
            image = self._image.open(path, formats=_FORMATS)
        except Exception:  # Pillow raises many kinds for damaged files
            raise ValueError("not_an_image") from None
        with image:
            width, height = image.size
            if width < self._min_size[0] or height < self._min_size[1]:
                raise ValueError("too_small")
            if width * height > _MOST_PIXELS:
                raise ValueError("too_large")
            return {"width": width, "height": height, **self._thumbnails(image, path)}

    def _thumbnails(self, image: Any, path: Path) -> dict[str, Any]:
        if not self._thumbs:
            return {}
        try:
            whole = image.convert("RGB")
        except Exception:  # the same of its pixels
            raise ValueError("not_an_image") from None
        return {"thumbs": {name: self._thumbnail(whole, path, name) for name in self._thumbs}}

    def _thumbnail(self, image: Any, path: Path, name: str) -> str:
        small = image.copy()
        small.thumbnail(self._thumbs[name])
        place = self.directory / "thumbs" / name / f"{path.stem}.jpg"
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = place.with_name(f".{place.name}.part")
        small.save(draft, "JPEG")
        draft.replace(place)
        return str(place)


def _pillow() -> Any:
    try:
        return import_module("PIL.Image")
    except ImportError as error:
        raise ValueError(f"images need Pillow: {install_command('images')}") from error


def _checked(name: str) -> str:
    if not name.isidentifier():
        raise ValueError(f"thumbs: {name!r} must be a name such as small, it becomes a directory")
    return name
