"""The rules of HTTP as pure functions: no I/O."""
