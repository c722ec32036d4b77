"""
Many schedulers on one job, through Redis.

The hosts of a job are hashed to shards. A scheduler holds the leases of some shards, and has a
frontier for each. What the frontiers decide is committed to Redis, whose history is the only
truth: a scheduler keeps nothing that matters on its disk.
"""
