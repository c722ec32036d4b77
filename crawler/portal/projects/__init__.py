"""From a git repository to a version that a task can run."""
