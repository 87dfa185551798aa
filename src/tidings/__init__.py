"""Standing queries: say once what you want to hear about, and hear of every event that satisfies it.

Everything public is here; each name is imported when it is first used, so that `import tidings` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidings.analysis.statistics import TextStatistics as TextStatistics
    from tidings.analysis.words import Analyser as Analyser
    from tidings.analysis.words import AnalyserVersion as AnalyserVersion
    from tidings.analysis.words import Word as Word
    from tidings.analysis.words import register_analyser as register_analyser
    from tidings.errors import EventError as EventError
    from tidings.errors import IdentifierError as IdentifierError
    from tidings.errors import LimitError as LimitError
    from tidings.errors import RefusedError as RefusedError
    from tidings.errors import SettingError as SettingError
    from tidings.errors import StoreError as StoreError
    from tidings.errors import SubscriptionError as SubscriptionError
    from tidings.errors import TidingsError as TidingsError
    from tidings.errors import UnsupportedError as UnsupportedError
    from tidings.explanation import Explanation as Explanation
    from tidings.explanation import explain as explain
    from tidings.language.parser import parse as parse
    from tidings.language.printer import print_expression as print_expression
    from tidings.matcher import Matcher as Matcher
    from tidings.model.event import Event as Event
    from tidings.model.result import EventProblem as EventProblem
    from tidings.model.result import MatchResult as MatchResult
    from tidings.model.result import Subscription as Subscription
    from tidings.reference import Settings as Settings
    from tidings.reference import holds as holds
    from tidings.thresholds import AdaptiveThresholds as AdaptiveThresholds

__version__ = "0.1.0"

_HOMES = {
    "tidings.analysis.statistics": ("TextStatistics",),
    "tidings.analysis.words": ("Analyser", "AnalyserVersion", "Word", "register_analyser"),
    "tidings.errors": (
        "EventError",
        "IdentifierError",
        "LimitError",
        "SettingError",
        "StoreError",
        "SubscriptionError",
        "RefusedError",
        "TidingsError",
        "UnsupportedError",
    ),
    "tidings.explanation": ("Explanation", "explain"),
    "tidings.language.parser": ("parse",),
    "tidings.language.printer": ("print_expression",),
    "tidings.matcher": ("Matcher",),
    "tidings.model.event": ("Event",),
    "tidings.model.result": ("EventProblem", "MatchResult", "Subscription"),
    "tidings.reference": ("Settings", "holds"),
    "tidings.thresholds": ("AdaptiveThresholds",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = sorted(["__version__", *_HOME_OF])  # noqa: PLE0605 - the names are in _HOMES already


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'tidings' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
