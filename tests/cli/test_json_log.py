import json
import logging

import pytest

from crawler.cli import json_log as module
from crawler.cli.json_log import JsonFormatter, LogLimit
from crawler.current_request import CURRENT_REQUEST
from crawler.data import Request

from .conftest import crawler

SPIDER = """
from crawler import Spider

class Shop(Spider):
    name = "shop"
    start_urls = [{url!r}]
    api_key = ""

    def parse(self, response):
        self.logger.warning("the key is %s", self.api_key)
        try:
            raise ValueError(f"no price for {{self.api_key}}")
        except ValueError:
            self.logger.exception("failed")
        yield {{"a": 1}}
"""


def record(message, *arguments, level=logging.INFO, **more):
    made = logging.LogRecord("x", level, __file__, 1, message, arguments, None)
    vars(made).update(more)
    return made


def line(*arguments, secrets=frozenset(), **more):
    return json.loads(JsonFormatter(secrets).format(record(*arguments, **more)))


def test_a_record_is_a_line_of_json():
    text = JsonFormatter(set()).format(record("two\nlines %s", "\u2028"))

    assert "\n" not in text
    assert json.loads(text)["message"] == "two\nlines \u2028"
    assert json.loads(text)["level"] == "INFO"


def test_a_line_names_the_request_that_its_greenlet_works_on():
    request = Request("http://user:pass@shop.test/a")
    CURRENT_REQUEST.set(request)
    try:
        found = line("x")
    finally:
        CURRENT_REQUEST.set(None)

    assert (found["request"], found["host"]) == (request.id, "shop.test")
    assert "pass" not in found["url"]
    assert "request" not in line("x")


def test_a_worker_names_its_request_itself():
    found = line("x", request="7f", url="http://shop.test/")

    assert (found["request"], found["host"]) == ("7f", "shop.test")


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Basic s3same",
        "{'Cookie': 'a=b; sid=s3same'}",
        '{"api_key": "s3same"}',
        "password=s3same",
        "X-Auth-Token: s3same",
        "GET http://x.test/?access_token=s3same&page=2",
        "http://user:s3same@x.test/",
        "client_secret = 's3same'",
    ],
)
def test_secrets_are_replaced(text):
    assert "s3same" not in line(text)["message"]
    assert "s3same" not in line("failed", exc_text=text)["trace"]


def test_known_secrets_are_replaced_wherever_they_are():
    assert line("it is %s!", "s3same", secrets={"s3same"})["message"] == "it is …!"


def test_long_texts_are_cut():
    assert len(line("x" * 10**6)["message"]) < 10_000
    assert len(line("x", exc_text="y" * 10**6)["trace"]) < 40_000


def test_hiding_is_linear():
    # A quadratic pattern would take hours.
    for text in ("token" * 10**5, "token=" * 10**5, 'token="' * 10**5, "a" * 10**6, ":" * 10**6):
        line(text)


def test_a_full_log_drops_lines_and_says_how_many(monkeypatch):
    monkeypatch.setattr(module, "_MOST", 1000)
    monkeypatch.setattr(module, "_MOST_WARNINGS", 2000)
    written = []
    handler = logging.Handler()
    lines = JsonFormatter(set())
    handler.setFormatter(lines)
    handler.emit = lambda given: written.append(json.loads(handler.format(given)))
    limit = LogLimit(handler, lines)
    handler.addFilter(limit)

    for n in range(1000):
        handler.handle(record("line %d", n))
    handler.handle(record("important", level=logging.WARNING))

    counts = [one["dropped"] for one in written if one.get("event") == "dropped"]
    assert counts == [2**n for n in range(len(counts))]
    assert counts[-1] <= limit.dropped < 2 * counts[-1]
    assert limit.dropped + len(written) - len(counts) == 1001
    assert len(written) < 50


@pytest.mark.parametrize("analyzers", ["0", "1"])
def test_a_crawl_logs_json_without_its_secrets(linked, tmp_path, analyzers):
    (tmp_path / "shop.py").write_text(SPIDER.format(url=linked.url()))
    options = ("-a", "api_key=s3same", "--analyzers", analyzers, "--log-json", "-L", "INFO")

    done = crawler("run", "shop.py", "-srobots=false", *options, cwd=tmp_path)

    lines = [json.loads(text) for text in done.stderr.splitlines() if text.startswith("{")]
    assert "s3same" not in done.stderr
    [warning] = [one for one in lines if one["level"] == "WARNING"]
    [error] = [one for one in lines if one["message"] == "failed"]
    [page] = [one for one in lines if one["logger"] == "crawler.scheduler.page_log"]
    assert warning["message"] == "the key is …"
    assert error["trace"].endswith("ValueError: no price for …")
    assert warning["request"] == error["request"] == page["request"]
    assert warning["url"] == linked.url()
