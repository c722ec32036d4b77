"""Whether Redis has a shard as its holder knows it, after a restart that may have lost the end."""

from __future__ import annotations

from .active_shard import ActiveShard
from .server import Server


def is_there(server: Server, shard: ActiveShard, in_doubt: int | None) -> bool:
    """
    Return whether Redis has the token of *shard*, its last batch, and all that it has read.

    *in_doubt* is the number of a batch that was sent and not answered: if Redis has it, it is
    answered thereby.
    """
    keys, number = server.keys, shard.number
    token, seq = server.ask(lambda c: c.hmget(keys.leases[number], "token", "seq"))
    if token is None or token.decode() != shard.token:
        return False
    if int(seq) == in_doubt:
        return True
    if int(seq) != shard.seq:
        return False
    read = list(shard.read)
    if not read:
        return True
    found = server.ask(lambda c: c.xrange(keys.inboxes[number], read[0], read[-1]))
    return {entry.decode() for entry, _ in found} >= set(read)
