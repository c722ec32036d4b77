"""Whether a request may come in: scope, what was seen before, traps."""
