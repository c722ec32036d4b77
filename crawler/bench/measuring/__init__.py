"""How a cost is measured: child processes, interleaved rounds, samples, reports, history."""
