import io
import struct
import subprocess
import sys

import pytest

from crawler import Spider, crawl
from crawler.media import ImagesPipeline, images_pipeline
from crawler.testing import Reply

from .conftest import FAST, binary, names_in

Image = pytest.importorskip("PIL.Image")


def picture(width, height, kind="PNG", mode="RGB"):
    content = io.BytesIO()
    Image.new(mode, (width, height)).save(content, kind)
    return content.getvalue()


def gather(site, pipeline, *paths):
    class Gallery(Spider):
        start_urls = [site.url()]
        pipelines = [pipeline]

        def parse(self, page):
            yield {"image_urls": [site.url(path) for path in paths]}

    result = crawl(Gallery(), **FAST)
    assert not result.errors
    return result.items[0]["images"]


def test_an_image_has_a_size_and_thumbnails(serve, tmp_path):
    site = serve(
        {"/": "home", "/a": binary(picture(400, 200)), "/b": binary(picture(9, 9, mode="P"))}
    )
    thumbs = {"small": (50, 50), "big": (100, 100)}

    large, tiny = gather(site, ImagesPipeline(tmp_path, thumbs=thumbs), "/a", "/b")

    assert (large["width"], large["height"], large["status"]) == (400, 200, "downloaded")
    small = tmp_path / "thumbs" / "small" / f"{large['sha256']}.jpg"
    assert large["thumbs"] == {
        "small": str(small),
        "big": str(tmp_path / "thumbs" / "big" / f"{large['sha256']}.jpg"),
    }
    with Image.open(small) as image:
        assert (image.format, image.size) == ("JPEG", (50, 25))
    with Image.open(tiny["thumbs"]["big"]) as image:
        assert image.size == (9, 9)
    assert names_in(tmp_path / "thumbs" / "small") == sorted(
        f"{image['sha256']}.jpg" for image in (large, tiny)
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<h1>sorry</h1>", "not_an_image"),
        (b"", "not_an_image"),
        (picture(100, 100)[:40], "not_an_image"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 100 100\n", "not_an_image"),
        (picture(9, 100), "too_small"),
        (picture(100, 9), "too_small"),
        (picture(9000, 8000, "PNG", "1"), "too_large"),
    ],
    ids=["page", "empty", "cut", "program", "narrow", "low", "bomb"],
)
def test_what_is_not_wanted_fails_and_is_removed(serve, tmp_path, content, reason):
    site = serve({"/": "home", "/a": Reply(200, {"content-type": "image/png"}, content)})

    pipeline = ImagesPipeline(tmp_path, thumbs={"small": (50, 50)}, min_size=(10, 10))
    [image] = gather(site, pipeline, "/a")

    assert (image["status"], image["reason"], image["path"]) == ("failed", reason, None)
    assert [name for name in names_in(tmp_path) if name != "thumbs"] == []


def test_a_name_of_thumbnails_cannot_lead_elsewhere():
    with pytest.raises(ValueError, match=r"thumbs: '\.\./x' must be a name"):
        ImagesPipeline(thumbs={"../x": (1, 1)})


def test_without_pillow_the_error_says_what_to_install(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(images_pipeline, "import_module", missing)

    with pytest.raises(ValueError, match=r"images need Pillow: pip install .*\[images\]"):
        ImagesPipeline()


def test_a_format_that_hides_the_size_of_its_image_is_not_read(serve, tmp_path):
    """An icon of 16 times 16 pixels may have an image of any size, which is decoded at once."""
    content = picture(16, 16)
    head = struct.pack("<HHHBBBBHHII", 0, 1, 1, 16, 16, 0, 0, 1, 32, len(content), 22)
    site = serve({"/": "home", "/a": binary(head + content)})

    [found] = gather(site, ImagesPipeline(tmp_path), "/a")

    assert found["reason"] == "not_an_image"


#: Prints how many megabytes the process grows by while it reads the images in a directory at once.
AT_ONCE = """
from gevent import monkey; monkey.patch_all()
import resource, sys
from pathlib import Path
import gevent
from crawler.media import ImagesPipeline

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

pipeline = ImagesPipeline(sys.argv[1], thumbs={"small": (50, 50)})
results = [{"path": str(path)} for path in sorted(Path(sys.argv[1]).glob("*.png"))]
before = peak()
reading = [gevent.spawn(pipeline.process_file, result) for result in results]
gevent.joinall(reading, timeout=120, raise_error=True)
assert all(greenlet.value["width"] == 3000 for greenlet in reading)
print(peak() - before)
"""


def test_images_that_take_much_memory_are_decoded_one_at_a_time(tmp_path):
    content = picture(3000, 3000)
    for number in range(4):
        (tmp_path / f"{number}.png").write_bytes(content)

    command = [sys.executable, "-c", AT_ONCE, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)

    # One takes 36 MB three times: as decoded, as converted, and as copied for a thumbnail.
    assert int(done.stdout) < 250
