"""Middlewares around a spider's callbacks: contract, chain, and one file for each behaviour."""
