"""The likely mistakes, and what is said of each, word for word: a change of a message is a change that users see."""

from __future__ import annotations

import pytest

from tidings import SubscriptionError, parse
from tidings.language.builder import FUNCTIONS

MISTAKES = {
    "two equals signs": (
        "price == 5",
        "'==' is not a comparison of SQL",
        "  price == 5",
        "        ^^",
        "write =",
    ),
    "an empty subscription": (
        "  ",
        "the subscription is empty",
        "    ",
        "  ^",
        "write a condition such as price < 10",
    ),
    "a string without quotes": (
        "symbol = IBM",
        "two attributes are compared with each other",
        "  symbol = IBM",
        "  ^^^^^^^^^^^^",
        "compare an attribute with a value; a value in words stands in quotes: symbol = 'IBM'",
    ),
    "double quotes around a name": (
        "\"symbol\" = 'IBM'",
        "two values are compared with each other",
        "  \"symbol\" = 'IBM'",
        "  ^^^^^^^^^^^^^^^^",
        "one side is an attribute, which stands without quotes, or in backquotes: `last name` = 'Woolf'",
    ),
    "curly quotes": (
        "symbol = ‘IBM’",
        "'‘' is not part of the language",
        "  symbol = ‘IBM’",
        "           ^",
        "strings stand in straight quotes: 'text'",
    ),
    "a quote inside a string": (
        "name = 'O'Brien'",
        "the string ends here, and goes on",
        "  name = 'O'Brien'",
        "           ^",
        "a quote inside a string is doubled: 'O''Brien'",
    ),
    "a string that does not end": (
        "symbol = 'IBM",
        "the string that begins here does not end",
        "  symbol = 'IBM",
        "           ^",
        "close it with '; a quote inside is written '' or \\'",
    ),
    "a misspelt function": (
        "contians(title, 'spark')",
        "unknown function contians",
        "  contians(title, 'spark')",
        "  ^^^^^^^^",
        "did you mean contains(attribute, 'text')?",
    ),
    "a function of SQL": (
        "lower(title) = 'spark'",
        "unknown function lower",
        "  lower(title) = 'spark'",
        "  ^^^^^",
        "write attribute ILIKE 'text' to ignore case",
    ),
    "comparing with NULL": (
        "volume = NULL",
        "nothing is ever equal to NULL, nor less or more",
        "  volume = NULL",
        "           ^^^^",
        "write attribute IS NULL, or IS NOT NULL",
    ),
    "nothing after AND": (
        "price < 5 AND",
        "found the end after AND, expected a condition: an attribute, a function, NOT or '('",
        "  price < 5 AND",
        "               ^",
    ),
    "nothing after a comparison": (
        "price <",
        "found the end after <, expected a value: a number, 'text', TRUE, FALSE, DATE '…' or TIMESTAMP '…'",
        "  price <",
        "         ^",
    ),
    "no AND between conditions": (
        "price < 5 volume > 3",
        "found volume after 5, expected AND, OR, ')' or the end",
        "  price < 5 volume > 3",
        "            ^^^^^^",
    ),
    "C's and": (
        "price < 5 && volume > 3",
        "'&&' is not an operator of SQL",
        "  price < 5 && volume > 3",
        "            ^^",
        "write AND",
    ),
    "a parenthesis that is not closed": (
        "(price < 5 OR (volume > 3)",
        "this '(' is never closed",
        "  (price < 5 OR (volume > 3)",
        "  ^",
        "add the missing ')'",
    ),
    "a parenthesis too many": (
        "price < 5)",
        "this ')' closes nothing",
        "  price < 5)",
        "           ^",
        "remove it, or open a '('",
    ),
    "a name with a space": (
        "unit price < 5",
        "found price after unit, expected a comparison such as =, <=, IN, LIKE or IS NULL",
        "  unit price < 5",
        "       ^^^^^",
        "a name with a space goes in backquotes: `unit price`",
    ),
    "the word WHERE": (
        "WHERE price < 5",
        "WHERE is not part of the language of subscriptions",
        "  WHERE price < 5",
        "  ^^^^^",
        "a subscription is what stands after WHERE",
    ),
    "a whole query": (
        "SELECT * FROM quotes",
        "SELECT is not part of the language of subscriptions",
        "  SELECT * FROM quotes",
        "  ^^^^^^",
        "a subscription is only the condition, what stands after WHERE",
    ),
    "a semicolon at the end": (
        "price < 5;",
        "';' is not part of the language",
        "  price < 5;",
        "           ^",
        "a subscription is one expression; leave the ; out",
    ),
    "arithmetic": (
        "high - low > 5",
        "arithmetic (-) is not part of the language",
        "  high - low > 5",
        "       ^",
        "compute the value first, and compare the attribute with it",
    ),
    "BETWEEN with a comma": (
        "price BETWEEN 1, 5",
        "this BETWEEN is not complete",
        "  price BETWEEN 1, 5",
        "        ^^^^^^^",
        "BETWEEN takes two values: attribute BETWEEN 1 AND 5",
    ),
    "IN without parentheses": (
        "symbol IN 'IBM', 'MSFT'",
        "found 'IBM' after IN, expected '(' and the values, with commas between them",
        "  symbol IN 'IBM', 'MSFT'",
        "            ^^^^^",
    ),
    "IN with nothing": (
        "symbol IN ()",
        "the list of values is empty",
        "  symbol IN ()",
        "  ^^^^^^",
        "name at least one value",
    ),
    "IN with two types": (
        "symbol IN ('IBM', 5)",
        "the values have different types: number and string",
        "  symbol IN ('IBM', 5)",
        "  ^^^^^^^^^^^^^^^^^^^",
        "all values of one list have one type",
    ),
    "a date that is none": (
        "at > DATE '2026-02-30'",
        "'2026-02-30' is not a date",
        "  at > DATE '2026-02-30'",
        "            ^^^^^^^^^^^^",
        "write DATE 'YYYY-MM-DD'",
    ),
    "a date in another order": (
        "at > DATE '31/01/2026'",
        "'31/01/2026' is not a date",
        "  at > DATE '31/01/2026'",
        "            ^^^^^^^^^^^^",
        "write DATE 'YYYY-MM-DD'",
    ),
    "a pattern that is not closed": (
        "matches(title, '(spark OR')",
        "expected a word, a phrase or ( after OR, and found the end of the pattern",
        "  matches(title, '(spark OR')",
        "                           ^",
        'OR stands between two parts; to look for the word itself put it in quotes: "OR"',
    ),
    "proximity without bounds": (
        "matches(title, 'bank -> rate')",
        "expected [least,most] directly after ->",
        "  matches(title, 'bank -> rate')",
        "                       ^^",
        "write a ->[0,3] b for a before b with 0 to 3 words between, ->[0,] for any number",
    ),
    "a regular expression RE2 has not": (
        "title RLIKE '(?=a)b'",
        "RE2 cannot read the regular expression: invalid perl operator: (?=",
        "  title RLIKE '(?=a)b'",
        "               ^^^^^^",
        "RE2 has no backreferences and no look-around, because those can take exponential time",
    ),
    "similarity without a threshold": (
        "similarity(title, 'spark')",
        "similarity gives a number, not a condition",
        "  similarity(title, 'spark')",
        "  ^^^^^^^^^^^^^^^^^^^^^^^^^",
        "write similarity(attribute, 'text') >= 0.5",
    ),
    "a threshold in percent": (
        "similarity(title, 'spark') >= 60",
        "the threshold of similarity is a number from 0 to 1",
        "  similarity(title, 'spark') >= 60",
        "                                ^^",
        "such as 0.6",
    ),
    "an XPath axis": (
        "xpath_boolean(doc, '/a/parent::b')",
        "the axis parent:: is not supported",
        "  xpath_boolean(doc, '/a/parent::b')",
        "                         ^^^^^^",
        "paths lead down only: begin at the parent and ask about the child in [ ], as in a[b = 1]",
    ),
    "XPath's single =": (
        "xpath_boolean(doc, '/a[b == 1]')",
        "found ==, expected and, or, a comparison or ]",
        "  xpath_boolean(doc, '/a[b == 1]')",
        "                           ^^",
        "equality is written =",
    ),
    "too many arguments": (
        "startswith(title, 'a', 'b')",
        "startswith takes two arguments and was given 3",
        "  startswith(title, 'a', 'b')",
        "  ^^^^^^^^^^^^^^^^^^^^^^^^^^",
        "write startswith(attribute, 'text')",
    ),
    "a number with a unit": (
        "size > 5MB",
        "a number is followed at once by 'M'",
        "  size > 5MB",
        "          ^",
        "a name that begins with a digit goes in backquotes: `2nd`; a number takes no suffix",
    ),
    "IS TRUE": (
        "active IS TRUE",
        "found TRUE after IS, expected NULL or NOT NULL",
        "  active IS TRUE",
        "            ^^^^",
        "write attribute = TRUE",
    ),
    "a fault on the second line": (
        "price < 5\nAND volumn(3)",
        "unknown function volumn",
        "  AND volumn(3)",
        "      ^^^^^^",
        f"the functions are {', '.join(FUNCTIONS)}",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_likely_mistake_is_explained_word_for_word(name: str) -> None:
    where, *said = MISTAKES[name]
    with pytest.raises(SubscriptionError) as refused:
        parse(where)
    assert str(refused.value).split("\n") == said
