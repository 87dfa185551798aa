"""What the benchmarks ask and of what: subscriptions and events, drawn from one seed, without any measuring."""
