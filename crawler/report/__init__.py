"""What the figures of a crawl mean, for the command line and whoever else shows them."""
