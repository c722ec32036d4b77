"""Web archives: exchanges written as WARC, read again, and replayed as a site."""
