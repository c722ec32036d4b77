"""What the figures of a crawl mean: plain values in, plain values out, for every way to show them."""
