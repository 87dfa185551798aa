"""Files of subscriptions and files of events in, a file or folder of matches out: what `tidings match` does.

`match_files` does it and returns a `Summary`; see docs/command-line.md. It runs on Spark, which it starts.
"""

from __future__ import annotations

from tidings.match_files.request import Request
from tidings.match_files.running import match_files
from tidings.match_files.summary import Problem, Summary, TopSubscription

__all__ = ["Problem", "Request", "Summary", "TopSubscription", "match_files"]
