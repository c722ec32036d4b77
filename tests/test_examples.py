"""Every example runs as it stands, in a process of its own."""

import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from crawler.testing import LoopbackSite, Reply

EXAMPLES = Path(__file__).parent.parent / "examples"

ICON = b"\x00\x00\x01\x00\x01\x00"


def start(name, *args):
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=50)


def run(name, *args):
    """Run an example that complains of nothing, and return what it printed."""
    done = start(name, *args)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_is_short(path):
    assert len(path.read_text().splitlines()) <= 50


def test_no_example_is_left_out():
    tested = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}

    assert {path.stem for path in EXAMPLES.glob("*.py")} <= tested


def test_basic():
    lines = run("basic").splitlines()

    assert sorted(lines[:3]) == ["/       Home", "/about  About us", "/news   News"]
    assert lines[3].startswith("UrlCounts(met=5, admitted=3, pending=0, done=3, failed={}")


def test_scope():
    out = run("scope")

    assert "https://partner.test/" in out
    assert "turned away: {'domain': 1, 'depth': 1}" in out


def test_custom_fetch():
    assert sorted(run("custom_fetch").splitlines()) == [
        "200 http://files.test/index.html",
        "200 http://files.test/one.html",
        "404 http://files.test/lost.html",
    ]


def test_custom_score():
    assert run("custom_score").splitlines() == ["D1 75 calls", "D2 25 calls"]


def test_two_downloaders():
    (_, quick, _), (_, slow, _) = (line.split() for line in run("two_downloaders").splitlines())

    assert int(quick) + int(slow) == 200
    assert int(quick) > int(slow)


def test_monitor():
    *_, last = run("monitor").splitlines()

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
        '<img srcset="/wide.png 2x, /small.png 1x" src="data:image/png;base64,AA"><img src="/gone.png"><img src="/favicon.ico">',
        "/more": '<base href="/based/"><img src="on.png"><img data-src="/lazy"><img src="/copy.png"><img src="/not-really.png">',
        "/a/logo.png": Reply(200, picture, png(1)),
        "/b/logo.png": Reply(200, picture, png(2)),
        "/wide.png": Reply(200, picture, png(3)),
        "/small.png": Reply(200, picture, png(4)),
        "/based/on.png": Reply(200, picture, png(5)),
        "/lazy": Reply(200, {"Content-Type": "text/plain"}, b"GIF89a;"),
        "/favicon.ico": Reply(200, picture, ICON),
        "/copy.png": Reply(200, picture, png(1)),
        "/not-really.png": Reply(200, picture, b"<h1>sorry</h1>"),
    }
    with LoopbackSite(pages) as site:
        yield site


def test_finder(gallery, tmp_path):
    done = start("finder", "--first", gallery.url(), "--depth", 1, "--dir", tmp_path / "pictures")

    assert (done.returncode, done.stderr) == (0, "")
    saved = {path.name for path in (tmp_path / "pictures").iterdir()}
    assert len(saved) == 7
    assert sorted(name.rpartition("-")[0] for name in saved) == [
        "favicon",
        "lazy",
        "logo",
        "logo",
        "on",
        "small",
        "wide",
    ]
    assert sum(name.endswith(".png") for name in saved) == 5
    assert sum(name.endswith(".gif") for name in saved) == 1
    contents = {(tmp_path / "pictures" / name).read_bytes() for name in saved}
    assert contents == {png(1), png(2), png(3), png(4), png(5), b"GIF89a;", ICON}
    assert len(done.stdout.splitlines()) == 7


def test_finder_reports_a_wrong_url(tmp_path):
    done = start("finder", "--first", "ftp://a.test/", "--dir", tmp_path)

    assert done.returncode == 2
    assert "no first request was admitted: ftp://a.test/ (scheme)" in done.stderr
