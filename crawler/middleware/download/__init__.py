"""What stands around a fetch: the contract, the chain, and one file for each behaviour."""
