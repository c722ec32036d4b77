import os

from crawler.module.remote.shared_memory import Slots


def test_each_body_has_its_own_slot_while_slots_are_free():
    slots = Slots(2)
    os.close(slots.descriptor)
    first, second = slots.put(b"a" * 10), slots.put(b"b" * 20)

    assert None not in (first, second)
    assert first != second
    assert slots.put(b"c") is None
    slots.free(first)
    assert slots.put(b"") is None
    assert slots.put(bytes(3 << 20)) is None
    assert slots.put(b"c") == first
    slots.close()
