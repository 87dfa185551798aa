"""Statistics of events as JSON holds them, and back: what is learned about events is kept with an index.

Values are written with their type, because `common` tells 1 from '1' and from true.
"""

from __future__ import annotations

import math
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from tidings.model.values import AttributeType
from tidings.planning.statistics import AttributeStatistics, EventStatistics

_READERS: dict[str, Callable[[str], Any]] = {
    "string": str,
    "integer": int,
    "float": float,
    "decimal": Decimal,
    "time": datetime.fromisoformat,
    "boolean": lambda text: (AttributeType.BOOLEAN, text == "True"),
    "bytes": b64decode,
}


def record_of(statistics: EventStatistics) -> dict[str, Any]:
    attributes = {
        path: {
            "present": known.present,
            "distinct": known.distinct,
            "common": [[*_written(value), share] for value, share in known.common.items()],
            "numbers": [number if math.isfinite(number) else str(number) for number in known.numbers],  # as JSON can
            "strings": list(known.strings),
            "documents": [_written(document) for document in known.documents],
        }
        for path, known in statistics.attributes.items()
    }
    return {"observed": statistics.observed, "attributes": attributes}


def statistics_of(record: Mapping[str, Any]) -> EventStatistics:
    attributes = {
        path: AttributeStatistics(
            known["present"],
            known["distinct"],
            {_READERS[kind](text): share for kind, text, share in known["common"]},
            tuple(map(float, known["numbers"])),
            tuple(known["strings"]),
            tuple(_READERS[kind](text) for kind, text in known["documents"]),
        )
        for path, known in record["attributes"].items()
    }
    return EventStatistics(attributes, record["observed"])


def _written(value: Any) -> list[str]:
    match value:
        case (_, bool(truth)):  # as `common` counts booleans
            return ["boolean", str(truth)]
        case str():
            return ["string", value]
        case int():
            return ["integer", str(value)]
        case float():
            return ["float", repr(value)]
        case Decimal():
            return ["decimal", str(value)]
        case datetime():
            return ["time", value.isoformat()]
        case bytes():
            return ["bytes", b64encode(value).decode()]
    raise AssertionError(value)  # pragma: no cover - every kind of value that is counted is above
