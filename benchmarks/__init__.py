"""Side by side with peers: `python -m benchmarks`. Workers import this in the peers' interpreters: keep it empty."""
