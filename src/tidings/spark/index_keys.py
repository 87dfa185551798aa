"""Keys of subscriptions read from the compiled index: of those that events find by the value of a string.

The index has chosen what a subscription is found by. If that is the equality of a string, in all places where the
subscription stands, then an event that satisfies it has one of these strings, and `sets.Elements` makes a key of each:
so these keys cover the subscription, and are made once for each string, without a look at the text. The others are
left to `subscription_keys`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tidings.index import layout
from tidings.index.columns import TextColumn
from tidings.index.layout import Array, hash_columns
from tidings.index.part import Part
from tidings.index.slots import SlotType
from tidings.rendezvous.composite import AccessScheme
from tidings.rendezvous.scheme import Scheme, attribute_name
from tidings.rendezvous.sets import Elements
from tidings.spark.subscription_keys import FOR_ALL, signed_hash

_BY_VALUE = (layout.VALUE, *layout.WITH_VALUE.values())


@dataclass(frozen=True, slots=True, eq=False)
class ValueKeys:
    """Subscription number[i] has the key key[i]; `kinds` says what the keys are about; `left` have to be read."""

    number: Array
    key: Array  # int64
    kinds: set[tuple[str, str]]
    left: Array


def stores_by_value(scheme: Scheme) -> bool:
    """Whether an event visits the keys of its strings, and it is free under which predicate a conjunction is stored."""
    return isinstance(scheme, AccessScheme) and scheme.by_kind_alone and Elements() in scheme.makers


def keys_by_value(part: Part, numbers: Array, most_keys: int) -> ValueKeys:
    """Of these subscriptions, which are in order. One with more than `most_keys` is stored under EVERYWHERE."""
    segment = part.segment
    every = np.bincount(segment.entry_member, minlength=len(part.ids))
    place, entry = _entries_by_string(part)
    member = segment.entry_member[entry]
    whole = (np.bincount(member, minlength=len(part.ids)) == every) & (every > 0)
    asked = np.zeros(len(part.ids), np.bool_)
    asked[numbers] = True
    chosen = (whole & asked)[member]
    pairs = np.unique(member[chosen].astype(np.int64) << 32 | place[chosen])  # each once, however often it stands there
    member, place = pairs >> 32, pairs & 0xFFFFFFFF
    many = np.bincount(member, minlength=len(part.ids)) > most_keys
    few = ~many[member]
    places, which = np.unique(place[few], return_inverse=True)
    hashes, kinds = _keys_of_places(part, places)
    everywhere = np.flatnonzero(many)
    key = np.concatenate([hashes[which], np.full(len(everywhere), FOR_ALL[0])])
    number = np.concatenate([member[few], everywhere])
    first = _first_of_each(number, key)
    return ValueKeys(number[first], key[first], kinds, numbers[~whole[numbers]])


def _first_of_each(number: Array, key: Array) -> Array:
    """Where each pair stands: a string has a place in each of the tables that it is in."""
    order = np.lexsort((key, number))
    new = np.ones(len(order), np.bool_)
    new[1:] = (number[order][1:] != number[order][:-1]) | (key[order][1:] != key[order][:-1])
    return order[new]


def _entries_by_string(part: Part) -> tuple[Array, Array]:
    """The entries that are found by a string, each with its place in the hash tables."""
    segment = part.segment
    columns = hash_columns(segment.hash_places)
    slots = np.array([kind == SlotType.STRING for _, kind in part.slots] + [False])
    table = _table_of_place(part)
    found = np.isin(segment.table_kind, _BY_VALUE) & slots[_lead_of_table(part)]
    place = np.flatnonzero((columns.text >= 0) & (columns.bucket >= 0) & found[table])
    counts = (columns.end - columns.first)[place]
    within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(place, counts), np.repeat(columns.first[place], counts) + within


def _keys_of_places(part: Part, places: Array) -> tuple[Array, set[tuple[str, str]]]:
    """The hashes of their keys, and what these are about."""
    names = [attribute_name(path) for path, _ in part.slots]
    texts = TextColumn(part.segment.text_start, part.segment.text_data)
    lead = _lead_of_table(part)[_table_of_place(part)[places]]
    text = hash_columns(part.segment.hash_places).text[places]
    keys = [
        key
        for slot, number in zip(lead.tolist(), text.tolist(), strict=True)
        for key in Elements().keys_of_value(names[slot], texts[number])
    ]
    return np.array([signed_hash(key) for key in keys], np.int64), {(key.attribute, key.kind) for key in keys}


def _table_of_place(part: Part) -> Array:
    """Tables without places begin where the next one does."""
    return np.repeat(np.arange(len(part.segment.table_kind)), np.diff(part.segment.table_hash))


def _lead_of_table(part: Part) -> Array:
    """The slot that leads a table; behind the last slot for scans."""
    segment = part.segment
    return np.searchsorted(segment.slot_tables, np.arange(len(segment.table_kind)), side="right") - 1
