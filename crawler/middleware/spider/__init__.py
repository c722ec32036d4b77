"""What stands around a spider's callbacks: the contract, the chain, and one file for each behaviour."""
