"""Every example runs as it stands."""

import re
import struct
import subprocess
import sys
import zlib
from hashlib import sha256
from pathlib import Path

import pytest

from crawler.testing import LoopbackSite, Reply

EXAMPLES = Path(__file__).parent.parent / "examples"

GIF = bytes.fromhex("47494638396101000100800000000000ffffff2c00000000010001000002024401003b")


def start(name, *args):
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


#: Examples that need no arguments and complain of nothing. The first one prints ids of modules,
#: which are counted over the whole process.
SILENT = ["custom_score", "basic", "scope", "custom_fetch", "two_downloaders", "monitor"]
END = "-- end of an example --\n"
#: Runs each file that it is given, with a namespace of its own.
RUN = f"""
import runpy, sys
for path in sys.argv[1:]:
    runpy.run_path(path, run_name="__main__")
    print({END!r}, end="", flush=True)
"""


@pytest.fixture(scope="module")
def printed():
    """What each of these examples prints; one process runs them all, as to start is most of it."""
    paths = [str(EXAMPLES / f"{name}.py") for name in SILENT]
    command = [sys.executable, "-c", RUN, *paths]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    return dict(zip(SILENT, done.stdout.split(END)[:-1], strict=True))


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_is_short(path):
    assert len(path.read_text().splitlines()) <= 50


def test_no_example_is_left_out():
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}

    assert {path.stem for path in EXAMPLES.glob("*.py")} <= tested


def test_basic(printed):
    lines = printed["basic"].splitlines()

    assert sorted(lines[:3]) == ["/       Home", "/about  About us", "/news   News"]
    assert lines[3].startswith("UrlCounts(met=5, admitted=3, pending=0, done=3, failed={}")


def test_scope(printed):
    out = printed["scope"]

    assert "https://partner.test/" in out
    assert "turned away: {'domain': 1, 'depth': 1}" in out


def test_custom_fetch(printed):
    assert sorted(printed["custom_fetch"].splitlines()) == [
        "200 http://files.test/index.html",
        "200 http://files.test/one.html",
        "404 http://files.test/lost.html",
    ]


def test_custom_score(printed):
    assert printed["custom_score"].splitlines() == ["D1 75 calls", "D2 25 calls"]


def test_two_downloaders(printed):
    lines = printed["two_downloaders"].splitlines()
    (_, quick, _), (_, slow, _) = (line.split() for line in lines)

    assert int(quick) + int(slow) == 200
    assert int(quick) > int(slow)


def test_monitor(printed):
    *_, last = printed["monitor"].splitlines()

    assert last == "stopped: 199 done, 0 pending"


def test_error_consumer():
    done = start("error_consumer")
    out = done.stdout

    assert done.returncode == 0
    assert re.fullmatch(r"error_consumer\.py:\d+ ValueError: I cannot .*\n", done.stderr)
    assert "ValueError: I cannot read this page" in out
    assert "truncated" in out
    assert (
        "failed={'truncated': 1, 'parse': 1}" in out or "failed={'parse': 1, 'truncated': 1}" in out
    )


def png(shade):
    def chunk(kind, data):
        whole = kind + data
        return struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    body = zlib.compress(bytes([0, shade]))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


@pytest.fixture
def gallery():
    picture = {"Content-Type": "image/png"}
    pages = {
        "/": '<img src="/a/logo.png"><img src="b/logo.png"><a href="/more">more</a>'
        '<img srcset="/wide.png 2x, /small.png 1x" src="data:image/png;base64,AA"><img src="/gone.png">',
        "/more": '<base href="/based/"><img src="on.png"><img data-src="/lazy"><img src="/copy.png"><img src="/not-really.png">',
        "/a/logo.png": Reply(200, picture, png(1)),
        "/b/logo.png": Reply(200, picture, png(2)),
        "/wide.png": Reply(200, picture, png(3)),
        "/small.png": Reply(200, picture, png(4)),
        "/based/on.png": Reply(200, picture, png(5)),
        "/lazy": Reply(200, {"Content-Type": "image/gif"}, GIF),
        "/copy.png": Reply(200, picture, png(1)),
        "/not-really.png": Reply(200, picture, b"<h1>sorry</h1>"),
    }
    with LoopbackSite(pages) as site:
        yield site


def test_finder(gallery, tmp_path):
    pytest.importorskip("PIL")
    pictures = tmp_path / "pictures"
    done = start("finder", "--first", gallery.url(), "--depth", 1, "--dir", pictures)

    assert (done.returncode, done.stderr) == (0, "")
    saved = {path.name: path.read_bytes() for path in pictures.iterdir() if path.is_file()}
    contents = {
        png(1): "png",
        png(2): "png",
        png(3): "png",
        png(4): "png",
        png(5): "png",
        GIF: "gif",
    }
    assert saved == {f"{sha256(one).hexdigest()}.{kind}": one for one, kind in contents.items()}
    assert len(list((pictures / "thumbs" / "small").iterdir())) == len(saved)
    lines = done.stdout.splitlines()
    assert len(lines) == 9
    assert f"http_404  -  {gallery.url('/gone.png')}" in done.stdout
    assert f"not_an_image  -  {gallery.url('/not-really.png')}" in done.stdout


def test_finder_reports_a_wrong_url(tmp_path):
    done = start("finder", "--first", "ftp://a.test/", "--dir", tmp_path)

    assert done.returncode == 2
    assert "no first request was admitted: ftp://a.test/ (scheme)" in done.stderr
