"""The generated sites that are crawled, and their servers."""
