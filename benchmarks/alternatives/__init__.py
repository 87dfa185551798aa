"""What one would use instead, or what the work must cost at least: each written as well as it can be."""
