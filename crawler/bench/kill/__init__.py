"""Crawls that are killed at random moments, and the check of their outputs."""
