"""Modules that work in another process: the module's side, and the transport to the worker."""
