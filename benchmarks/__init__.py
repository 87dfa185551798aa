"""Measurements: ratios within one run against a named alternative, every answer verified. `make bench` runs them."""
