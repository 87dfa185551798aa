"""How large a subscription may be. SUBSCRIPTIONS.md states these numbers, and a test compares the two.

Limits of the pattern and XPath languages stand with their parsers.
"""

LENGTH = 65_536  # characters of a WHERE expression
NESTING = 64  # parentheses and NOTs inside one another
CONJUNCTIONS = 1_024  # after normalising to an OR of ANDs
PATH = 32  # names in a dotted path
DIGITS = 400  # characters of a number
EXPONENT = 308  # decimal exponent of a number, up and down: the range of a float64
REGEX = 1_024  # characters of an RLIKE pattern
REGEX_MEMORY = 1 << 20  # bytes that RE2 may use for a compiled pattern
