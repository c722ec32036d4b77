"""Events for programs: runs and cluster jobs as they change, in one stream."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from time import monotonic
from typing import Any

import gevent
from flask import Response, request
from werkzeug.exceptions import BadRequest, NotFound, ServiceUnavailable

from .visitor import Route

#: Seconds between two looks at the topics, and between two signs of life.
_INTERVAL, _KEEP_ALIVE = 1.0, 15.0
_MOST_TOPICS = 20


class EventApi:
    """*read* has for each kind of topic what returns the JSON values of one by its name."""

    def __init__(self, read: Mapping[str, Callable[[str], dict[str, Any]]]) -> None:
        self._read = read

    def routes(self) -> list[Route]:
        text = (
            "Server-sent events: the whole of each topic, such as run:17 or cluster:quotes, "
            "at first and whenever it has changed."
        )
        return [
            Route(
                "/api/v1/events",
                "GET",
                self.events,
                "viewer",
                text,
                query=("topics",),
                media="text/event-stream",
            ),
        ]

    def events(self) -> Response:
        topics = [topic for topic in request.args.get("topics", "").split(",") if topic]
        if not topics or len(topics) > _MOST_TOPICS:
            raise BadRequest(f"name 1 to {_MOST_TOPICS} topics, such as topics=run:17")
        first = {topic: self._text(topic) for topic in topics}
        return Response(self._follow(first), mimetype="text/event-stream")

    def _follow(self, texts: dict[str, str]) -> Iterator[str]:
        """Yield the topics that have changed, until all of them are over."""
        for topic, text in texts.items():
            yield _event(topic, text)
        said = monotonic()
        while not all(json.loads(text)["is_over"] for text in texts.values()):
            gevent.sleep(_INTERVAL)
            changed = {topic: self._again(topic, text) for topic, text in texts.items()}
            for topic, text in changed.items():
                if text != texts[topic]:
                    said = monotonic()
                    yield _event(topic, text)
            texts = changed
            if monotonic() - said > _KEEP_ALIVE:
                said = monotonic()
                yield ": still here\n\n"
        yield "event: end\ndata: {}\n\n"

    def _again(self, topic: str, text: str) -> str:
        if json.loads(text)["is_over"]:
            return text
        try:
            return self._text(topic)
        except (NotFound, ServiceUnavailable):
            return text

    def _text(self, topic: str) -> str:
        kind, _, name = topic.partition(":")
        if kind not in self._read:
            raise BadRequest(f"{topic!r} is not a topic such as run:17 or cluster:quotes")
        return json.dumps(self._read[kind](name))


def _event(topic: str, text: str) -> str:
    return f"event: change\ndata: {json.dumps({'topic': topic, 'value': json.loads(text)})}\n\n"
