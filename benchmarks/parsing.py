"""Reading subscriptions in bulk: a few shapes, and every shape different, against sqlglot parsing each text alone.

sqlglot's time is for its tree only, which is not yet checked, typed or normalised. Every expression of both
workloads is verified to equal what `parse` gives for the text with nothing learned before.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import sqlglot
from sqlglot import exp

from benchmarks.measuring import in_turn, report, scaled
from tidings import Matcher, parse
from tidings.language import builder, parser
from tidings.model.predicates import Expression

SUBSCRIPTIONS, DIFFERENT = scaled(100_000), scaled(20_000)
REPETITIONS = 5
# Template of a subscription and its share, of a hundred.
TABLE_3 = {
    "symbol = '{symbol}' AND open BETWEEN {price} AND {higher}": 20,
    "symbol = '{symbol}' AND low <= {price}": 35,
    "symbol = '{symbol}' AND high >= {price}": 35,
    "symbol = '{symbol}' AND volume >= {volume}": 5,
    "volume >= {volume}": 5,
}


def stock_alerts(count: int, seed: int = 1) -> list[str]:
    """The five templates of Table 3 of the paper on the matching tree over Brushwood, in its shares."""
    chance = random.Random(seed)
    texts = []
    for template in chance.choices(list(TABLE_3), list(TABLE_3.values()), k=count):
        price = chance.uniform(1, 200)
        fields = {"price": f"{price:.2f}", "higher": f"{price + 10:.2f}", "volume": chance.randrange(10**7)}
        texts.append(template.format(symbol=f"S{chance.randrange(6000)}", **fields))
    return texts


def all_different(count: int, seed: int = 2) -> list[str]:
    """Two predicates on attributes that no other text names, so that no two texts have one shape."""
    chance = random.Random(seed)
    texts = []
    for number in range(count):
        comparison = f"{chance.choice(['<', '<=', '>', '>='])} {chance.uniform(1, 200):.2f}"
        texts.append(f"a{number} = 'S{chance.randrange(6000)}' AND b{number} {comparison}")
    return texts


def forget() -> None:
    parser._templates.clear()
    parser._seen.clear()
    parser._terms.clear()
    builder._equalities.clear()


def cold(where: str) -> Expression:
    forget()
    return parse(where)


def read_all(texts: Sequence[str]) -> list[Expression]:
    forget()
    return [parse(text) for text in parser.collecting_young_only(texts)]


def added(texts: Sequence[str]) -> Matcher:
    forget()
    matcher = Matcher()
    matcher.add_many(enumerate(texts))
    return matcher


def sqlglot_alone(texts: Sequence[str]) -> list[exp.Expr]:
    return [sqlglot.parse_one(text, dialect="spark", into=exp.Condition) for text in texts]


def measure(title: str, texts: Sequence[str]) -> None:
    wrong = sum(fast != cold(text) for fast, text in zip(read_all(texts), texts, strict=True))
    if wrong:
        raise SystemExit(f"{wrong} of {len(texts)} expressions differ from parsing the text alone")
    measured = in_turn(
        REPETITIONS,
        len(texts),
        sqlglot_alone=lambda: sqlglot_alone(texts),
        parse=lambda: read_all(texts),
        Matcher_add_many=lambda: added(texts),
    )
    report(f"{title}, {len(texts):,} subscriptions, all verified", measured, "subscriptions", "sqlglot_alone", "parse")


def run() -> None:
    measure("five shapes (stock alerts)", stock_alerts(SUBSCRIPTIONS))
    measure("every shape different", all_different(DIFFERENT))
