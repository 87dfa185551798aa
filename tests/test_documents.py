"""What the documents say is true: their Python prints what they show, their subscriptions parse, their limits hold."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tidings import parse, print_expression
from tidings.analysis.xml import DEFAULT_LIMITS
from tidings.language import limits, text, xpath

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(document: str) -> list[tuple[str, str]]:
    return BLOCK.findall((ROOT / document).read_text(encoding="utf-8"))


def shown_in(document: str) -> list[tuple[str, str]]:
    """Each Python block with the text block that follows it, if one does, as what it prints."""
    found = blocks(document)
    return [
        (code, found[number + 1][1] if number + 1 < len(found) and found[number + 1][0] == "text" else "")
        for number, (kind, code) in enumerate(found)
        if kind == "python"
    ]


def snippets() -> list[tuple[str, str]]:
    """Those that need no session of Spark; the others are run by tests/spark/test_document.py."""
    every = [*shown_in("README.md"), *shown_in("SUBSCRIPTIONS.md")]
    return [(code, printed) for code, printed in every if "tidings.spark" not in code]


@pytest.mark.parametrize("number", range(len(snippets())))
def test_python_in_the_documents_prints_what_it_shows(number: int) -> None:
    code, printed = snippets()[number]
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == printed


def test_the_documents_have_python_with_output() -> None:
    assert sum(bool(printed) for _, printed in snippets()) >= 4


SUBSCRIPTIONS = [
    line
    for document in ("SUBSCRIPTIONS.md", "README.md")
    for kind, block in blocks(document)
    if kind == "sql"
    for line in block.splitlines()
]


@pytest.mark.parametrize("where", SUBSCRIPTIONS)
def test_subscriptions_in_the_documents_parse(where: str) -> None:
    expression = parse(where)
    assert parse(print_expression(expression)) == expression


def test_the_specification_has_an_example_for_every_kind() -> None:
    assert len(SUBSCRIPTIONS) >= 25
    everything = " ".join(SUBSCRIPTIONS)
    for word in (
        "BETWEEN",
        "IN (",
        "LIKE",
        "ILIKE",
        "RLIKE",
        "ESCAPE",
        "IS NULL",
        "DATE",
        "TIMESTAMP",
        "array_contains",
    ):
        assert word in everything
    for word in ("has_all", "has_any", "arrays_overlap", "matches", "similarity", "lsi", "xpath_boolean", "contains("):
        assert word in everything


LIMITS = {
    "a subscription, as written and in canonical form": f"{limits.LENGTH:,} characters",
    "parentheses and NOTs inside one another": f"{limits.NESTING}",
    "conjunctions after normalising to an OR of ANDs": f"{limits.CONJUNCTIONS:,}",
    "names in a dotted path": f"{limits.PATH}",
    "a number": f"{limits.DIGITS} characters, decimal exponent {limits.EXPONENT}",
    "a regular expression": f"{limits.REGEX:,} characters",
    "a text pattern": (
        f"{text.LENGTH:,} characters, {text.TERMS} terms, {text.NESTING} nested, {text.GAP:,} words in a gap"
    ),
    "an XPath expression": (
        f"{xpath.MAXIMUM_LENGTH:,} characters, {xpath.MAXIMUM_STEPS} steps, {xpath.MAXIMUM_NESTING} nested, "
        f"`//` inside `//` {xpath.MAXIMUM_DESCENDANTS} deep"
    ),
}


@pytest.mark.parametrize("what", LIMITS)
def test_limits_in_the_specification_are_those_of_the_code(what: str) -> None:
    assert f"| {what} | {LIMITS[what]} |" in (ROOT / "SUBSCRIPTIONS.md").read_text(encoding="utf-8")


def test_document_limits_in_the_specification_are_those_of_the_code() -> None:
    specification = " ".join((ROOT / "SUBSCRIPTIONS.md").read_text(encoding="utf-8").split())
    assert f"{DEFAULT_LIMITS.size // 2**20} MiB or more than {DEFAULT_LIMITS.depth} elements deep" in specification


@pytest.mark.parametrize("document", ["README.md", "SUBSCRIPTIONS.md", "DESIGN.md", "CONTRIBUTING.md"])
def test_links_in_the_documents_lead_somewhere(document: str) -> None:
    content = (ROOT / document).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", content):
        assert (ROOT / target).exists(), target
