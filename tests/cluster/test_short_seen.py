"""What was seen in a shard is known by the first bytes of fingerprints."""

import pytest

from crawler.cluster.short_seen import SHORT, ShortSeen, split
from crawler.frontier.admission.seen import make_seen

KEYS = [bytes([n]) * SHORT + bytes([n + 1]) * SHORT for n in range(100)]


@pytest.mark.parametrize("kind", ["bloom", "exact"])
def test_a_scheduler_that_has_the_short_keys_knows_the_same_urls(kind):
    before, after = ShortSeen(make_seen(kind, 1000)), ShortSeen(make_seen(kind, 1000))
    assert all(before.add(key) for key in KEYS)

    after.update(split(b"".join(key[:SHORT] for key in KEYS)))

    assert len(after) == len(before) == len(KEYS)
    assert not any(after.add(key) for key in KEYS)
    assert all(key in after for key in KEYS)
    assert b"x" * 16 not in after
