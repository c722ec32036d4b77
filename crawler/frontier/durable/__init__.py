"""What outlives the process: the journal of a job in SQLite, and the queues that memory cannot hold."""
