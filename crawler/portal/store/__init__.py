"""What a portal knows: users, sessions, tasks and runs, in one SQLite file."""
