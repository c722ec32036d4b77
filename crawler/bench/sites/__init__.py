"""The sites that are crawled, and the servers they come from."""
