"""When a request may be fetched: what waits for each host, and which host is next."""
