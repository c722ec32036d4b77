"""Crawls that are killed at random, and what they have left."""
