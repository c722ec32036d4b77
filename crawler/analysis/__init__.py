"""A spider as an Analyzer, in this process or in processes of its own."""
