"""Data from the network is never run: no pickle, no eval, no import of a name in it."""

import ast
import base64
import os
import pickle
import sys
from pathlib import Path

import pytest

import crawler
from crawler import Spider, crawl
from crawler.feed import JsonLines, Sqlite, WarcWriter
from crawler.middleware import Cookies, DownloadMiddleware, HttpCache
from crawler.spider import parse_news_feed, parse_sitemap
from crawler.testing import Reply

from .conftest import FAST

PACKAGE = Path(crawler.__file__).parent
#: The functions and modules that turn data into code, by name.
RUNS = {"eval", "exec", "compile", "__import__", "import_module", "exec_module", "load_module"}
UNPACKS = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "marshal", "shelve", "yaml"}
#: Where one of them is used, and for what: never for data of a page, a header or a job.
ALLOWED = {
    "_lazy_import.py": {"import_module"},  # the names of a package, from its table
    "cli/__init__.py": {"import_module"},  # the commands, from a table
    "cli/spider_file.py": {"exec_module"},  # the spider's file that the command line names
    "charset.py": {"import_module"},  # a codec of Python that the table of web encodings names
    "cluster/embedded_server.py": {"import_module"},  # an optional dependency
    "cluster/redis.py": {"import_module"},  # an optional dependency
    "cluster/scripts.py": {"eval"},  # Redis runs the package's own scripts
    "feed/optional_import.py": {"import_module"},  # an optional dependency
    "frontier/admission/seen.py": {"import_module"},  # an optional dependency
    "media/images_pipeline.py": {"import_module"},  # an optional dependency
    "spider/item_pipelines.py": {"import_module"},  # the pipelines that a setting names
    # the program's own spider, passed to a child process of the same program
    "analysis/worker/handshake.py": {"pickle", "exec_module"},
    "bench/measuring/child.py": {
        "import_module"
    },  # a benchmark of this package, by its own command line
}


def uses(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from {alias.name.partition(".")[0] for alias in node.names} & UNPACKS
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from {(node.module or "").partition(".")[0]} & UNPACKS
        elif isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Name):
                yield from {function.id} & RUNS
            elif isinstance(function, ast.Attribute) and function.attr in RUNS - {"compile"}:
                yield function.attr


def test_no_file_runs_data_but_those_that_say_what_for():
    found = {path.relative_to(PACKAGE).as_posix(): {*uses(path)} for path in PACKAGE.rglob("*.py")}

    assert {name: used for name, used in found.items() if used} == ALLOWED


class Bomb:
    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


@pytest.fixture
def mark(tmp_path, monkeypatch):
    """Return a path that exists as soon as one of the payloads has run."""
    mark = tmp_path / "was-run"
    home = tmp_path / "path"
    home.mkdir()
    (home / "planted.py").write_text(f"import os\nos.mkdir({str(mark)!r})\n")
    monkeypatch.syspath_prepend(home)
    yield mark
    sys.modules.pop("planted", None)


def payloads(mark):
    code = f"__import__('os').mkdir({str(mark)!r})"
    pickled = pickle.dumps(Bomb(mark))
    return {
        "pickle": pickled,
        "pickle in base64": base64.b64encode(pickled),
        "expression": code.encode(),
        "module": b"planted",
        "callable": b"planted.anything",
        "format": b"{0.__class__.__init__.__globals__[os]} %(planted)s ${planted} {{planted}}",
        "tag": f"!!python/object/apply:os.mkdir [{str(mark)!r}]".encode(),
    }


def test_the_payloads_work(mark):
    pickle.loads(payloads(mark)["pickle"])
    assert mark.exists()
    mark.rmdir()
    eval(payloads(mark)["expression"])
    assert mark.exists()
    mark.rmdir()
    __import__(payloads(mark)["module"].decode())
    assert mark.exists()


def pages_with(payload):
    """Return pages that contain *payload* in every place where a page may contain text."""
    text = payload.decode("latin-1").replace("\r", " ").replace("\n", " ").replace("\0", " ")
    fields = (
        *("content-type", "referrer-policy", "content-encoding", "set-cookie", "location", "link"),
        *("retry-after", "x-robots-tag", "etag", "cache-control", "vary", "refresh", "expires"),
        *("last-modified", "content-disposition", "content-language", "server", "x-python"),
    )
    html = (
        f"<title>{text}</title><meta charset='{text}'><base href='{text}'>"
        f"<meta name=robots content='{text}'><meta http-equiv=refresh content='0;url={text}'>"
        f"<a href='{text}'>{text}</a><a href='/?callback=planted.f&errback=planted'>x</a>"
        f"<script type=application/json>{text}</script>"
    ).encode("latin-1")
    by_header = {f"/{name}": Reply(200, {name: text}, html) for name in fields}
    typed = {
        f"/typed/{n}": Reply(200, {"content-type": kind.format(text)}, payload)
        for n, kind in enumerate(("text/html; charset={}", "{}", "application/x-pickle", "x/{}"))
    }
    return {
        **by_header,
        **typed,
        "/": "".join(f"<a href='{path}'>x</a>" for path in [*by_header, *typed, "/raw", "/moved"]),
        "/raw": Reply(200, {"content-type": "application/octet-stream"}, payload),
        "/html": html,
        "/moved": Reply(302, {"location": text}),
        "/robots.txt": Reply(body=b"User-agent: *\nCrawl-delay: " + payload),
        "/sitemap.xml": Reply(200, {"content-type": "text/xml"}, b"<urlset>" + payload),
    }


class Archive(DownloadMiddleware):
    def __init__(self, writer):
        self.after_download = writer


@pytest.mark.parametrize("name", list(payloads(Path("/x"))))
def test_no_payload_is_run(serve, tmp_path, mark, name):
    payload = payloads(mark)[name]
    site = serve(pages_with(payload))

    class Curious(Spider):
        start_urls = [site.url("/"), site.url("/html"), site.url("/sitemap.xml")]
        max_depth = 3
        handle_httpstatus_list = [302, 404]

        def parse(self, page):
            yield {"url": page.url, "title": page.title, "text": page.text, "raw": page.body}
            yield from page.links(tags=("a", "link", "script"))
            try:
                page.json()
            except ValueError:
                parse_sitemap(page.body)
                parse_news_feed(page.body, page.url)

    for _ in range(2):  # the second time from the cache
        with (
            JsonLines(tmp_path / "out.jsonl") as lines,
            Sqlite(tmp_path / "out.db") as table,
            WarcWriter(tmp_path / "out.warc.gz") as archive,
        ):
            result = crawl(
                Curious(),
                feeds=[lines, table],
                download_middlewares=[Cookies(), HttpCache(tmp_path / "cache"), Archive(archive)],
                **{**FAST, "robots": True, "retries": 1},
            )
        assert len(result.items) > 15

    assert not mark.exists()
    assert "planted" not in sys.modules
