"""
Web pages about crawls: the live page of a running one, the page of a finished one, metrics.

Everything here needs the extra ``portal``; no other package but ``cli`` imports this one.
"""
