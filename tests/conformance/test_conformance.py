"""Every case over every matcher: the one body that decides whether a matcher is right.

A group is one test for each matcher, because some matchers take long to start and most are made for many at once. What
fails in it, and what a matcher cannot be asked, is reported case by case.
"""

from __future__ import annotations

from functools import cache

import pytest

from conformance.case import Batch, Case, Group, Refusal, negated
from conformance.groups import BATCHES, GROUPS, REFUSALS
from matchers import MATCHERS, MatcherUnderTest, Outcome
from tidings import Settings, TidingsError

REFERENCE = MATCHERS[0]

over_matchers = pytest.mark.parametrize("matcher", MATCHERS, ids=str)
over_groups = pytest.mark.parametrize("group", GROUPS, ids=str)


@over_matchers
@over_groups
def test_cases(matcher: MatcherUnderTest, group: Group, subtests: pytest.Subtests) -> None:
    outcome = outcome_of(matcher.name, group.name)
    for position, case in enumerate(group.cases):
        unable = outcome.why_not(position, case.name, negated(case))
        fault = fault_of(case, position, outcome)
        if unable is not None or fault is not None:  # a subtest costs more than a case, and most have nothing to say
            with subtests.test(case.name):
                if unable is not None:
                    pytest.skip(unable)
                pytest.fail(f"{fault}: {case.where} on {case.event}", pytrace=False)


@over_matchers
@over_groups
def test_every_event_meets_every_subscription_as_in_the_reference(matcher: MatcherUnderTest, group: Group) -> None:
    """The cases of a group are a table of far more pairs than those whose truth is written down."""
    outcome, reference = outcome_of(matcher.name, group.name), outcome_of(REFERENCE.name, group.name)
    able = {pair for pair in reference.pairs if outcome.why_not(*pair) is None}
    assert outcome.pairs - able == set(), "matches that are none"
    assert able - outcome.pairs == set(), "matches that were missed"


@over_matchers
@pytest.mark.parametrize("batch", BATCHES, ids=str)
def test_batch(matcher: MatcherUnderTest, batch: Batch) -> None:
    outcome = matcher.matches(batch.subscriptions, batch.events, Settings())
    if outcome.unable:
        pytest.skip("; ".join(sorted(set(outcome.unable.values()))))
    assert outcome.pairs == batch.pairs
    assert outcome.problems is None or outcome.problems == batch.problems


@over_matchers
@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_refusal(matcher: MatcherUnderTest, refusal: Refusal) -> None:
    with pytest.raises(TidingsError):
        matcher.matches({"refused": refusal.where}, [], Settings())


@cache
def outcome_of(matcher_name: str, group_name: str) -> Outcome:
    (matcher,) = (matcher for matcher in MATCHERS if matcher.name == matcher_name)
    (group,) = (group for group in GROUPS if group.name == group_name)
    return matcher.matches(group.subscriptions(), [case.event for case in group.cases], group.settings)


def fault_of(case: Case, position: int, outcome: Outcome) -> str | None:
    """What is wrong with the answer to a case; None if nothing is."""
    answered = {
        (True, False): "true",
        (False, True): "false",
        (False, False): "unknown",
        (True, True): "true, and so is its NOT",
    }[(position, case.name) in outcome.pairs, (position, negated(case)) in outcome.pairs]
    expected = {True: "true", False: "false", None: "unknown"}[case.expected]
    if answered != expected:
        return f"expected {expected}, and it is {answered}"
    if outcome.problems is None:
        return None
    reported = {attribute for event, attribute in outcome.problems if event == position}
    return None if reported == set(case.unreadable) else f"expected {case.unreadable} to be reported, not {reported}"
