"""Sites of known shape, and what the parts cost on them."""
