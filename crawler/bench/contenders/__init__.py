"""The programs that crawl the same site: the bare loop, our crawl, and other frameworks."""
