"""The cost of the parts of a crawl, each next to alternatives."""
