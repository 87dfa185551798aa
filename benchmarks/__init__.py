"""Measurements: ratios within one run against a named alternative, every answer verified. `make bench` runs them."""

from __future__ import annotations

import os

# polars reads it when it is imported, and everything here is measured on one core.
os.environ.setdefault("POLARS_MAX_THREADS", "1")
