"""Simulated overlay networks: identifier spaces, Chord and Pastry, message by message and in bulk."""
