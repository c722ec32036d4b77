"""How a cost is measured: processes, rounds, samples, reports, history."""
