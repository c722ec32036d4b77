"""Web archives: exchanges written as WARC, read back, and replayed as a site."""
