import os
import socket

import pytest

from crawler.analysis.worker.channel import Channel
from crawler.module.remote.frames import FrameParser, pack
from crawler.module.remote.shared_memory import Slots


@pytest.fixture
def parent():
    """The parent's socket and memory, and the worker's channel."""
    ours, theirs = socket.socketpair()
    slots = Slots(2)
    descriptor = theirs.detach()
    with ours:
        yield ours, slots, Channel(descriptor, slots.descriptor)
    os.close(descriptor)
    slots.close()


def test_a_body_is_read_from_the_frame_or_from_shared_memory(parent):
    ours, slots, channel = parent
    slots.put(b"another body")
    offset = slots.put(b"shared")
    ours.sendall(pack({"n": 1}, b"sent") + pack({"n": 2, "at": [offset, 6]}))

    assert channel.receive() == ({"n": 1}, b"sent")
    message, body = channel.receive()

    assert (message["n"], body) == (2, b"shared")


def test_a_message_is_sent_as_a_frame(parent):
    ours, _, channel = parent
    parser = FrameParser()

    channel.send({"ready": True})
    parser.add(ours.recv(1000))

    assert parser.take() == ({"ready": True}, b"")


def test_there_is_no_frame_after_the_parent_closed_its_socket(parent):
    ours, _, channel = parent
    ours.sendall(pack({"n": 1})[:-1])
    ours.close()

    assert channel.receive() is None


def test_what_is_sent_during_another_message_is_sent_after_it(parent):
    """A destructor that logs may run while a message is being encoded."""
    ours, _, channel = parent
    parser = FrameParser()

    class Logging(dict):
        def items(self):
            channel.send({"log": "from within"})
            return super().items()

    channel.send({"found": Logging(n=1)})
    parser.add(ours.recv(1000))

    assert [parser.take()[0], parser.take()[0]] == [{"found": {"n": 1}}, {"log": "from within"}]
