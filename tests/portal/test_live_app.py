import json
from urllib.parse import urlencode

import gevent

from .conftest import HOSTILE, request, story_of

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def figures(live):
    return json.loads(request(live.url + "api/v1/figures").text)


def test_the_figures_add_up(live):
    queue = figures(live)["queue"]

    assert queue["total"] == queue["success"] + queue["failed"] + queue["refused"] + queue["left"]
    assert queue == {"left": 1, "total": 6, "success": 3, "failed": 2, "refused": 0}


def test_page_api_and_metrics_show_the_same_figures(live):
    queue, page = figures(live)["queue"], request(live.url).text

    for name, number in queue.items():
        assert f"<dt>{name.capitalize()}</dt><dd>{number}</dd>" in page
    metrics = request(live.url + "metrics").text
    assert f'crawler_urls_pending{{job="hostile"}} {queue["left"]}.0' in metrics


def test_pause_and_resume_reach_the_crawl(live):
    assert request(live.url + "pause", "POST").status == 303
    assert live.result.summary.paused
    assert request(live.url + "resume", "POST").status == 303
    assert not live.result.summary.paused


def set_delay(live, **form):
    return request(live.url + "delay", "POST", body=urlencode(form), **FORM)


def test_the_delay_of_a_host_is_set(live):
    assert set_delay(live, host="127.0.0.1:80", seconds="7.5").status == 303

    [host] = live.result.scheduler.hosts()
    assert (host.host, host.delay) == ("127.0.0.1", 7.5)


def test_a_wrong_delay_is_refused_in_words(live):
    for form in ({"host": HOSTILE, "seconds": "1"}, {"host": "a.test", "seconds": HOSTILE}, {}):
        answer = set_delay(live, **form)
        assert answer.status == 400
        assert "<img" not in answer.text
    assert "0 to 86400 seconds" in set_delay(live, host="a.test", seconds="-1").text

    assert [host.host for host in live.result.scheduler.hosts()] == ["127.0.0.1"]


def test_stop_asks_the_command_to_stop(live):
    assert request(live.url + "stop", "POST").status == 303
    assert live.stopped.is_set()


def test_a_command_that_comes_too_late_is_refused_in_words(live, site):
    site.release.set()
    live.result.wait()

    answer = request(live.url + "pause", "POST")

    assert answer.status == 409
    assert "pause()" in answer.text


def test_the_story_of_a_url(live, site):
    story = story_of(live, site.url("/gone"))

    assert (story["status"], story["reason"]) == ("failed", "http_404")
    page = request(f"{live.url}why?url={site.url('/gone')}").text
    assert "the server answered with status 404" in page
    assert "as a start URL" in request(f"{live.url}why?url={site.url('/')}").text
    assert "has not met this URL" in request(f"{live.url}why?url=http://x.test/").text


def test_hostile_text_is_escaped_on_every_page(live):
    for route in ("", "why?url=%3Cimg%20src%3Dx%3E", "%3Cimg%20src=x%3E"):
        text = request(live.url + route).text
        assert HOSTILE not in text
        assert "<img" not in text
        assert "<script>" not in text


def test_events_bring_what_has_changed(live, site):
    frames = []

    def read():
        parts = live.url.split("/")
        host, port = parts[2].split(":")
        with gevent.socket.create_connection((host, int(port)), timeout=120) as connection:
            head = f"GET /{parts[3]}/events?seen=0 HTTP/1.1\r\nHost: {parts[2]}\r\n\r\n"
            connection.sendall(head.encode())
            text = ""
            while "event: end" not in text:
                text += connection.recv(65536).decode()
            frames.append(text)

    reader = gevent.spawn(read)
    with gevent.Timeout(120):
        while not live.page._updates.watchers:
            gevent.sleep(0.01)
    site.release.set()
    live.result.wait()
    live.page.end(live.progress.read())
    reader.join(120)

    [text] = frames
    assert text.count("event: sections") == 2
    assert "text/event-stream" in text
    assert "finished" in text
