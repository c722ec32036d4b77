import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.module.remote.frames import Inbox, pack

jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
messages = st.dictionaries(st.text(), jsons, max_size=3)


@given(st.lists(st.tuples(messages, st.binary(max_size=50)), max_size=4), st.integers(1, 40))
def test_frames_come_out_as_they_went_in_however_they_are_cut(frames, size):
    stream = b"".join(pack(*frame) for frame in frames)
    inbox = Inbox()

    taken = []
    for start in range(0, len(stream), size):
        inbox.add(stream[start : start + size])
        while (frame := inbox.take()) is not None:
            taken.append(frame)

    assert taken == frames


def test_bytes_in_a_message_become_text_and_nothing_else_does():
    inbox = Inbox()
    inbox.add(pack({"body": b"\xff\0"}))

    assert inbox.take() == ({"body": "/wA="}, b"")
    with pytest.raises(TypeError):
        pack({"set": {1}})
