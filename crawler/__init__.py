"""A gevent crawler framework: a scheduler, modules, and the elastic pools between them."""
