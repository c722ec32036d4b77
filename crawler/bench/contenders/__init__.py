"""Who crawls the same site: the bare loop, ours, and other frameworks."""
