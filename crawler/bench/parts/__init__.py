"""What the parts of a crawl cost, each beside what else there is."""
