"""What the arrays of the XPath engine are, and what the numbers in them mean. Builder and kernels share this page.

A *document* is its nodes in document order, attributes right behind their element: what is below node n is
n + 1 : end[n]. A *symbol* says what a node is and, if somebody asks for its name, which. An *atom* is a path without
predicates and at most one test of the value at its end: it holds of a document if a node is there that passes. A
*compound* is any other question; it names atoms without which it cannot hold, and is verified where they are not all
of it. The *questions* of an engine are atoms or compounds; what holds of a document are its facts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tidings.index.layout import Array

# Symbols. A name that nobody asks for has the symbol of any other. A name in a namespace is {namespace}name.
DOCUMENT, TEXT, COMMENT, INSTRUCTION, OTHER_ELEMENT, OTHER_ATTRIBUTE = 0, 1, 2, 3, 4, 5
FIRST_NAME = 6  # name number n is the symbol FIRST_NAME + 2n of an element, and the next one of an attribute

# Kinds of states
PLAIN, BELOW, WHOLE = 0, 1, 2  # after a step; after //, where elements loop; after //. , where all but attributes do

# Tests of the value at the end of an atom. Ranges and equality are of numbers if not said otherwise.
NO_TEST = 0
EQUAL, NOT_EQUAL, LESS, LESS_OR_EQUAL, GREATER, GREATER_OR_EQUAL = 1, 2, 3, 4, 5, 6
TEXT_EQUAL, TEXT_NOT_EQUAL, CONTAINS, STARTS_WITH = 7, 8, 9, 10
KINDS_OF_TEST = 11
NEVER = 11  # of a comparison with a number that is none: not in the arrays

# Operations of programs. What stands in a and b is said in `programs`.
ALL, ANY, NONE, EXISTS, COMPARE, POSITION, LAST, POSITION_LAST, STRING_TEST = 0, 1, 2, 3, 4, 5, 6, 7, 8

# Kinds of steps in programs
STEP_ELEMENT, STEP_ATTRIBUTE, STEP_TEXT, STEP_WHOLE = 0, 1, 2, 3
ANY_SYMBOL = -1

# What a kernel comes back with
DONE, FOREIGN, MORE_NODES, MORE_FACTS, MORE_STATES, MORE_STACK, MORE_LISTS = 0, 1, 2, 3, 4, 5, 6

OF_HEAD = 3  # numbers of `head` for each symbol
LISTS = 3  # lists of nodes that each level of a program needs room for
SLACK = 16  # bytes of `values` beyond twice the document

SMALLEST_KEY = np.iinfo(np.int64).min
NAN_KEY = SMALLEST_KEY  # of text that is no number: below the key of every number


class Plan(NamedTuple):
    """What is built from the questions, and never changes."""

    # Names, as UTF-8
    name_start: Array  # int64[names + 1]
    name_data: Array  # uint8
    name_places: Array  # int32: a hash table of names, -1 where free

    # The automaton. State 0 is the document's. States from which something leads on have the smaller numbers.
    edge_key: Array  # int64: a hash table of state and symbol, -1 where free
    edge_target: Array  # int32
    any_element: Array  # int32[states]: where * leads, or -1
    any_attribute: Array  # int32[states]: where @* leads, or -1
    below: Array  # int32[states]: the state of // behind this one, or -1
    whole: Array  # int32[states]: the state of //. behind this one, or -1
    kind: Array  # uint8[states]
    leads: Array  # uint8[states]: 1 if attributes lead on, plus 2 if texts, comments or instructions do
    atom: Array  # int32[states]: the atom that holds where this state is reached, or -1

    # Tests of values, by state, then by kind, then by number
    tested: Array  # int32[states]: which row of test_kind, or -1
    test_kind: Array  # int64[tested states, KINDS_OF_TEST + 1]: where each kind begins in what follows, and the end
    test_key: Array  # int64: the key of the number, or the hash of the text
    test_text: Array  # int32: the literal
    test_atom: Array  # int32

    # Literals
    text_start: Array  # int64
    text_data: Array  # uint8

    # Atoms. Those that are questions themselves come first, in the order of the last symbol of their paths.
    atom_fact: Array  # int32[atoms]: the question, or -1
    access: Array  # int64[atoms + 1]: the compounds to look at if this atom holds
    access_compound: Array  # int32
    access_bits: Array  # uint64: which atoms have any

    # Compounds
    compound_fact: Array  # int32
    compound_program: Array  # int32: the operation that decides it, or -1 where its atoms do
    needs: Array  # int64[compounds + 1]
    need_atom: Array  # int32: atoms without which it does not hold
    points: Array  # int64[compounds + 1]
    point_atom: Array  # int32: where each of these atoms is one node of the document only, nothing is left to verify
    always: Array  # int32: compounds that are looked at for every document

    # Programs: operations, their lists, paths, steps
    operation: Array  # uint8
    operand_a: Array  # int32
    operand_b: Array  # int32
    operand_key: Array  # int64
    operation_list: Array  # int32
    step_kind: Array  # uint8: with 8 added behind //, and 16 where a predicate asks for a position
    step_symbol: Array  # int32
    step_predicates: Array  # int32[steps + 1]: its part of operation_list
    path_steps: Array  # int32: the first and the end of the steps of each path

    sizes: Array  # int64: see the numbers below

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self)


class Nodes(NamedTuple):
    """One document. The value of a node is values[value[n] : value[n] + length[n]].

    Texts stand in `values` one after the other, so that the value of an element is a part of it too; values of
    attributes, comments and instructions stand behind `aside`.
    """

    symbol: Array  # int32
    parent: Array  # int32
    end: Array  # int32: the first node that is not below it
    value: Array  # int64
    length: Array  # int64
    state: Array  # int32: of the run
    alike: Array  # int32: nodes by symbol, those of each in document order; made when a program asks for it
    values: Array  # uint8
    used: Array  # int64: see the numbers below


class Lazy(NamedTuple):
    """Sets of states that were met, as states of a deterministic automaton. They are kept from document to document.

    Set 0 is empty, and set 1 is what the document begins with.
    """

    first: Array  # int64[sets + 1]: its part of `members`, in order
    members: Array  # int32
    words: Array  # int64[sets + 1]: its part of the atoms that hold where it is reached, as words of bits
    word: Array  # int32: which word
    bits: Array  # uint64
    row: Array  # int32[sets]: its row of test_kind, or -1; what follows is as in Plan, for all states of a set together
    test_kind: Array  # int64
    test_key: Array  # int64
    test_text: Array  # int32
    test_atom: Array  # int32
    leads: Array  # uint8[sets]
    places: Array  # int32: a hash table of sets, -1 where free
    move_key: Array  # int64: a hash table of set and symbol, -1 where free
    move_target: Array  # int32
    seen: Array  # int64[sets]: twice the document in which it was reached last, plus 1 if at several nodes
    used: Array  # int64: see the numbers below


class Run(NamedTuple):
    """What a kernel writes while it looks at a document."""

    held: Array  # uint64: atoms that hold
    repeated: Array  # uint64: those of them without a test that hold of more than one node
    head: Array  # int64[OF_HEAD * symbols]: where `alike` has the nodes of a symbol, its end, and for which document
    stamp: Array  # int64[states]: the step of the automaton in which it was reached last
    asked: Array  # int64[compounds]: the document for which it was looked at last
    fresh: Array  # int32: the set that a step of the automaton leads to
    stack: Array  # int32: sets above the current node, where they are not kept
    stack_end: Array  # int64: where the set of each level of them ends
    lists: Array  # int32: nodes that a program looks at
    facts: Array  # int32
    counts: Array  # int64: see the numbers below


# In `counts` of Run, and in `used` of Lazy and of Nodes
FACTS, STEPS, SERIAL, VERIFIED, UNKEPT, CANDIDATES, FRESH, ALIKE, SCANNED = 0, 1, 2, 3, 4, 5, 6, 7, 8
COUNTS = 9
SETS, MEMBERS, WORDS, TESTS, MOVES, MAY_GROW, WANTED, WANTED_TESTS, ROWS = 0, 1, 2, 3, 4, 5, 6, 7, 8
NODE_COUNT, DEEPEST_NODE, TEXT_END, ASIDE_END = 0, 1, 2, 3
# In `sizes` of Plan
QUESTIONS, INNER, SYMBOLS, LEVELS = 0, 1, 2, 3


def _numbers(kind: Any) -> Any:
    """The fields with their numbers as values, which is how kernels name an array in a directory."""
    return kind(*range(len(kind._fields)))


PLAN, NODES, LAZY, RUN = (_numbers(kind) for kind in (Plan, Nodes, Lazy, Run))
