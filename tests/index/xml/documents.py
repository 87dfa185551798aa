"""What the tests of the XPath engine share: its answers and the reference's."""

from __future__ import annotations

from collections.abc import Sequence

from tidings.analysis.xml import read_document, xpath_holds
from tidings.errors import EventError
from tidings.index.facts import Facts
from tidings.model.xpath import XPathExpression


def answers(facts: Facts) -> list[list[int]]:
    """For each document the questions that hold, in order; a question that is there twice is there twice."""
    return [sorted(facts.fact[first:end].tolist()) for first, end in zip(facts.start, facts.start[1:], strict=False)]


def expected(
    questions: Sequence[XPathExpression], sources: Sequence[str | bytes]
) -> tuple[list[list[int]], list[tuple[int, str]]]:
    """By the reference: what holds of each document, and what is wrong with those that cannot be read."""
    found: list[list[int]] = []
    problems: list[tuple[int, str]] = []
    for number, source in enumerate(sources):
        try:
            document = read_document(source)
        except EventError as error:
            problems.append((number, str(error)))
            found.append([])
            continue
        found.append([at for at, question in enumerate(questions) if xpath_holds(question, document)])
    return found, problems
