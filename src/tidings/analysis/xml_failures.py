"""Why an XPath expression is false of a document: for each of its paths the deepest step that was reached, and what
stopped it there. Every answer is libxml2's, asked of shorter and shorter paths.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tidings.analysis.xml import Document, NodeSeen, leaves_of, selected_nodes, xpath_holds
from tidings.model.xpath import (
    Comparison,
    Exists,
    NameWriter,
    Path,
    Step,
    StringTest,
    XPathExpression,
    text_of,
    text_of_literal,
    text_of_path,
)


def xpath_failures(expression: XPathExpression, document: Document, name: NameWriter = str) -> tuple[str, ...]:
    """A line for each path of the expression that does not hold; none where it fails by `not()` alone.

    `name` writes the names of the expression, as its canonical text has them.
    """
    return tuple(_failure(leaf, document, name) for leaf in leaves_of(expression) if not xpath_holds(leaf, document))


def _failure(leaf: Exists | Comparison | StringTest, document: Document, name: NameWriter) -> str:
    path = leaf.left if isinstance(leaf, Comparison) else leaf.path
    assert isinstance(path, Path)
    steps, reached = path.steps, _first(Path(path.absolute, ()), document)
    for number, step in enumerate(steps):
        there = _first(Path(path.absolute, steps[: number + 1]), document)
        if there is None:
            return f"{text_of_path(path, name)}: {_stopped(path, number, step, reached, document, name)}"
        reached = there
    found = f"{reached.path} (line {reached.line}) is {reached.value!r}" if reached is not None else "it is empty"
    return f"{text_of_path(path, name)}: {found}, and {_wanted(leaf)} is asked for"


def _stopped(
    path: Path, number: int, step: Step, reached: NodeSeen | None, document: Document, name: NameWriter
) -> str:
    """Which part of a step no node satisfies, below the node where the steps before it lead first."""
    place = "the document" if reached is None else f"{reached.path} (line {reached.line})"
    for count in range(len(step.predicates) + 1):
        asked = replace(step, predicates=step.predicates[:count])
        if _first(Path(path.absolute, (*path.steps[:number], asked)), document) is None:
            break
    bare = text_of_path(Path(False, (replace(step, predicates=()),)), name)
    if not count:
        return f"reaches {place}, and there is no {bare} from there"
    return f"reaches {bare} from {place}, and none of them has [{text_of(step.predicates[count - 1], name)}]"


def _wanted(leaf: Exists | Comparison | StringTest) -> str:
    match leaf:
        case Comparison(_, comparator, right):
            return f"{comparator} {text_of_literal(right)}"
        case StringTest(function, _, literal):
            return f"{function} {text_of_literal(literal)}"
        case Exists():
            return "a node"


def _first(path: Path, document: Document) -> NodeSeen | None:
    return next(_nodes(path, document), None)


def _nodes(path: Path, document: Document) -> Iterator[NodeSeen]:
    if path.steps:
        yield from selected_nodes(path, document, 1)
