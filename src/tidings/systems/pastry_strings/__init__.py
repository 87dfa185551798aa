"""PastryStrings (paper 1): strings and numbers by trees of labels over a Pastry network.

`system.PastryStrings` runs it message by message, `bulk.BulkForest` counts the same messages over arrays.
"""

from tidings.systems.pastry_strings.settings import ForestSettings
from tidings.systems.pastry_strings.system import PastryStrings

__all__ = ["ForestSettings", "PastryStrings"]
