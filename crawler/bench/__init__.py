"""The cost of crawls and of their parts, measured on generated sites."""
