"""How a page meets its spider: an Analyzer around it, here or in processes of their own."""
