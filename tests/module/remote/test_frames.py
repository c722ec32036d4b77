import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.module.remote.frames import FrameParser, pack

jsons = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
messages = st.dictionaries(st.text(), jsons, max_size=3)


@given(st.lists(st.tuples(messages, st.binary(max_size=50)), max_size=4), st.integers(1, 40))
def test_frames_are_the_same_after_transfer_in_pieces_of_any_size(frames, size):
    stream = b"".join(pack(*frame) for frame in frames)
    parser = FrameParser()

    taken = []
    for start in range(0, len(stream), size):
        parser.add(stream[start : start + size])
        while (frame := parser.take()) is not None:
            taken.append(frame)

    assert taken == frames


def test_bytes_in_a_message_become_text_and_other_types_are_refused():
    parser = FrameParser()
    parser.add(pack({"body": b"\xff\0"}))

    assert parser.take() == ({"body": "/wA="}, b"")
    with pytest.raises(TypeError):
        pack({"set": {1}})
