"""`tidings demo`, the main job on data that it makes: an index compiled, events streamed through it on Spark.

`data` makes events and subscriptions, `engines` and `on_spark` match them, `report` and `figure` show what came of it.
"""

from __future__ import annotations

from tidings.demo.run import run_demo

__all__ = ["run_demo"]
