"""The pages of a portal."""
