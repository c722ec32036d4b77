"""What callbacks log and print in a worker appears in the process of the crawl."""

import logging
import os
import sys
import threading

from crawler import Spider, crawl
from crawler.testing import Site

from ..conftest import FREE

SITE = Site({"/": "x"})


class Talking(Spider):
    start_urls = ["http://site.test/"]

    def open(self):
        logging.getLogger("talking").warning("opened")

    def parse(self, page):
        log = logging.getLogger("talking.parse")
        log.info("not wanted")
        log.warning("analysed %s", page.url)
        print("printed", "größer", end="")
        print("…", flush=True)
        sys.stderr.write("an error\n")
        sys.stdout.buffer.write("größer\n".encode())
        try:
            raise KeyError("x")
        except KeyError:
            log.exception("caught")
        yield {"printed": True}

    def close(self):
        logging.getLogger("talking").warning("closed")


def test_log_records_go_to_the_logger_of_the_same_name(caplog):
    caplog.set_level(logging.WARNING)

    result = crawl(Talking(), fetch=SITE, analyzers=1, **FREE)

    assert result.items == [{"printed": True}]
    [analysed, caught] = [one for one in caplog.records if one.name == "talking.parse"]
    assert analysed.levelname == "WARNING"
    assert analysed.getMessage() == "analysed http://site.test/"
    assert analysed.process != os.getpid()
    assert caught.exc_text.startswith("Traceback")
    assert caught.exc_text.endswith("KeyError: 'x'")
    messages = [one.getMessage() for one in caplog.records if one.name == "talking"]
    assert sorted(messages) == ["closed", "closed", "opened", "opened"]  # in both processes


def test_a_logger_of_this_process_filters_them(caplog):
    caplog.set_level(logging.WARNING)
    caplog.set_level(logging.CRITICAL, "talking.parse")

    crawl(Talking(), fetch=SITE, analyzers=1, **FREE)

    assert "talking.parse" not in {one.name for one in caplog.records}


def test_what_is_printed_goes_to_the_streams_of_this_process(capsys):
    crawl(Talking(), fetch=SITE, analyzers=1, **FREE)

    printed = capsys.readouterr()
    assert printed.out == "printed größer…\ngrößer\n"
    assert "an error\n" in printed.err


class Threads(Spider):
    start_urls = ["http://site.test/"]

    def parse(self, page):
        threads = [threading.Thread(target=self.say, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for n in range(100):
            yield {"n": n, "text": "x" * 10_000}
        for thread in threads:
            thread.join()

    def say(self, n):
        for m in range(100):
            logging.getLogger("threads").warning("%d %d %s", n, m, "y" * 10_000)


def test_what_several_threads_send_does_not_mix(caplog):
    result = crawl(Threads(), fetch=SITE, analyzers=1, **FREE)

    assert result.errors == []
    assert [item["n"] for item in result.items] == list(range(100))
    said = {one.getMessage() for one in caplog.records if one.name == "threads"}
    assert said == {f"{n} {m} {'y' * 10_000}" for n in range(4) for m in range(100)}
