"""When a task runs, and the processes that its runs are."""
