"""A module that works elsewhere: the analyzer on this side, and the process it talks to."""
