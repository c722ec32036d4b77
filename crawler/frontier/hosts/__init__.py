"""When a request may go out: what waits for each host, and which host is next."""
