"""Middlewares around a fetch: contract, chain, and one file for each behaviour."""
