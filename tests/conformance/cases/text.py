"""matches: words, phrases, AND, OR and NOT over the words of a string, as the analyser `simple` reads them.

A word is a run of letters, marks, numbers and underscores, compared case folded and in NFC; Han and Hiragana are words
one by one; an apostrophe stays between letters; everything else separates.
"""

from __future__ import annotations

from conformance.case import UNKNOWN, Case, Truth
from tidings import Settings
from tidings.analysis.words import ENGLISH

FOX = "The quick brown fox jumps over the lazy dog."


def _case(name: str, pattern: str, text: object, expected: Truth) -> Case:
    return Case(name, f"matches(a, '{pattern}')", {"a": text}, expected)


WORDS = [
    _case("a word", "fox", FOX, True),
    _case("the first word", "the", FOX, True),
    _case("the last word, before a full stop", "dog", FOX, True),
    _case("no word", "cat", FOX, False),
    _case("a part of a word is none", "jump", FOX, False),
    _case("a word with more after it is none", "foxes", FOX, False),
    _case("case does not matter in the text", "quick", "QUICK", True),
    _case("case does not matter in the pattern", "QUICK", "quick", True),
    _case("the only word", "fox", "fox", True),
    _case("an empty text", "fox", "", False),
    _case("a text without words", "fox", "... !!! --", False),
    _case("white space of all kinds separates", "fox", "a\tfox\nb", True),
    _case("punctuation separates", "fox", "(fox)", True),
    _case("a comma separates", "fox", "dog,fox,cow", True),
    _case("a slash separates", "fox", "dog/fox", True),
    _case("an underscore does not separate", "fox", "red_fox", False),
    _case("a word with an underscore", "red_fox", "a red_fox ran", True),
    _case("a number is a word", "42", "the answer is 42", True),
    _case("a part of a number is none", "4", "42", False),
    _case("letters and digits are one word", "b2b", "a B2B deal", True),
    _case("a digit inside a word is no word", "2", "b2b", False),
    _case("a zero-width space separates", "fox", "dog\u200bfox", True),
    _case("an emoji separates and is no word", "fox", "dog\U0001f98afox", True),
    # Compound words are phrases
    _case("a hyphen separates: the parts", "op", "the co-op", True),
    _case("a hyphen separates: a term of two words", "co-op", "the co-op shop", True),
    _case("a hyphen separates: written apart", "co-op", "the co op shop", True),
    _case("a hyphen separates: in another order", "co-op", "op co", False),
    _case("a hyphen separates: written together", "co-op", "coop", False),
    _case("a decimal point separates", "3.14", "pi is 3.14", True),
    _case("a decimal point separates: the words of a number", "14", "pi is 3.14", True),
    _case("an address is a phrase", "ann@example.com", "write to ann@example.com today", True),
    _case("an address with a word between", "ann@example.com", "ann at example com", False),
    # Apostrophes
    Case("an apostrophe inside a word", "matches(a, 'don''t')", {"a": "I don't know"}, True),
    Case("a curly apostrophe is the same", "matches(a, 'don''t')", {"a": "I don’t know"}, True),
    _case("a word with an apostrophe is one word", "don", "I don't know", False),
    _case("quotation marks around a word stay outside", "fox", "the 'fox'", True),
    _case("an apostrophe at the end stays outside", "dogs", "the dogs' bowl", True),
    _case("an apostrophe before a number separates", "90s", "the '90s", True),
    # Unicode
    _case("composed and decomposed are one word", "caf\u00e9", "cafe\u0301", True),
    _case("decomposed and composed are one word", "cafe\u0301", "caf\u00e9", True),
    _case("an accent matters", "cafe", "caf\u00e9", False),
    _case("the sharp s is ss", "strasse", "Straße", True),
    _case("the sharp s in the pattern", "straße", "STRASSE", True),
    _case("a ligature is its letters", "fish", "\ufb01sh", True),
    _case("the two small sigmas", "ΟΔΟΣ", "οδος", True),
    _case("the dotless i is no i", "\u0131", "i", False),
    _case("Cyrillic", "МОСКВА", "в Москва!", True),
    _case("astral letters", "\U00010400", "\U00010428", True),
    _case("a Han character is a word", "京", "東京都", True),
    _case("Han characters are a phrase", "京都", "東京都", True),
    _case("Han characters in another order", "都京", "東京都", False),
    _case("Hiragana characters are words", "は", "これは本", True),
    _case("Katakana is a run", "テレ", "テレビ", False),
    _case("a Katakana word", "テレビ", "テレビを見る", True),
    _case("Hebrew", "שלום", "שלום עולם", True),
    _case("Arabic digits are a word", "\u0663\u0664", "\u0663\u0664", True),
]

PATTERNS = [
    # Phrases
    _case("a phrase", '"brown fox"', FOX, True),
    _case("a phrase out of order", '"fox brown"', FOX, False),
    _case("a phrase with a word between", '"quick fox"', FOX, False),
    _case("a phrase of three", '"quick brown fox"', FOX, True),
    _case("a phrase of all words", '"the quick brown fox jumps over the lazy dog"', FOX, True),
    _case("a phrase that is longer than the text", '"brown fox jumps"', "brown fox", False),
    _case("a phrase of one", '"fox"', FOX, True),
    _case("a phrase across punctuation", '"brown fox"', "brown, fox", True),
    _case("a phrase across a full stop", '"brown fox"', "It was brown. Fox hunts began.", True),
    _case("a phrase in capitals", '"BROWN FOX"', FOX, True),
    _case("a phrase with spaces at its ends", '"  brown   fox "', FOX, True),
    _case("a phrase of a repeated word", '"very very"', "it is very very good", True),
    _case("a phrase of a repeated word, once", '"very very"', "it is very good", False),
    _case("a phrase of a repeated word, apart", '"very very"', "very good and very bad", False),
    _case("a phrase that needs the second start", '"a b"', "a a b", True),
    _case("a phrase that overlaps itself", '"a b a c"', "a b a b a c", True),
    _case("a phrase that overlaps itself and fails", '"a b a c"', "a b a b a b", False),
    _case("a phrase with a compound word", '"the co-op shop"', "at the co op shop", True),
    _case("an operator inside a phrase is a word", '"this AND that"', "this and that", True),
    _case("an operator inside a phrase is no operator", '"this AND that"', "this that", False),
    # Wildcard words
    _case("a wildcard word", "qui*", FOX, True),
    _case("a wildcard word, none begins so", "quo*", FOX, False),
    _case("a wildcard word, nothing after it", "fox*", FOX, True),
    _case("a wildcard word, the word is shorter", "foxes*", FOX, False),
    _case("a wildcard word, inside of a word", "rown*", FOX, False),
    _case("a wildcard word of one letter", "j*", FOX, True),
    _case("a wildcard word in capitals", "QUI*", FOX, True),
    _case("a wildcard word in an empty text", "a*", "", False),
    _case("a wildcard word of two words", "the co-op*", "the co operative", True),
    _case("a wildcard word of two words, the first is whole", "the co-op*", "the cool operative", False),
    _case("a wildcard word, folded", "STRASS*", "Straßen", True),
    _case("a wildcard word and a mark", "cafe*", "caf\u00e9s", False),
    _case("a wildcard word of Han characters", "東京*", "東京都", True),
    _case("two wildcard words", "qui* AND laz*", FOX, True),
    _case("NOT of a wildcard word", "NOT qui*", FOX, False),
    _case("NOT of a wildcard word, absent", "fox AND NOT ca*", FOX, True),
    _case("OR of wildcard words", "ca* OR do*", FOX, True),
    _case("a star in quotes is no wildcard", '"qui*"', FOX, False),
    # AND, OR, NOT
    _case("AND, both", "fox AND dog", FOX, True),
    _case("AND, one", "fox AND cat", FOX, False),
    _case("AND in any order", "dog AND fox", FOX, True),
    _case("words side by side are joined by AND", "dog fox", FOX, True),
    _case("words side by side, one is absent", "dog cat", FOX, False),
    _case("words side by side are no phrase", "dog fox", "fox dog", True),
    _case("OR, one", "cat OR dog", FOX, True),
    _case("OR, none", "cat OR cow", FOX, False),
    _case("NOT, absent", "NOT cat", FOX, True),
    _case("NOT, present", "NOT fox", FOX, False),
    _case("NOT in an empty text", "NOT fox", "", True),
    _case("NOT NOT", "NOT NOT fox", FOX, True),
    _case("AND NOT", "fox AND NOT cat", FOX, True),
    _case("AND NOT, present", "fox AND NOT dog", FOX, False),
    _case("NOT side by side", "fox NOT dog", FOX, False),
    _case("OR NOT", "cat OR NOT cow", FOX, True),
    _case("NOT of a phrase, the words apart", 'NOT "quick fox"', FOX, True),
    _case("NOT of a phrase, there", 'NOT "brown fox"', FOX, False),
    _case("AND binds closer than OR", "fox OR cat AND cow", FOX, True),
    _case("AND binds closer than OR, on the left", "cat AND cow OR fox", FOX, True),
    _case("parentheses", "(fox OR cat) AND cow", FOX, False),
    _case("side by side binds as AND", "cat cow OR fox", FOX, True),
    _case("NOT binds closer than AND", "NOT cat AND fox", FOX, True),
    _case("NOT of parentheses", "NOT (cat OR cow)", FOX, True),
    _case("NOT of AND in parentheses", "NOT (fox AND cat)", FOX, True),
    _case("nested parentheses", "((fox) AND ((NOT cat)))", FOX, True),
    _case("words and phrases", '"lazy dog" AND quick AND NOT "lazy fox"', FOX, True),
    _case("an operator in small letters is a word", "fox and dog", FOX, False),
    _case("an operator in small letters is found", "fox and dog", "fox and dog", True),
    _case("an operator in quotes is a word", '"NOT"', "not at all", True),
    # Values
    _case("a number is no text", "42", 42, UNKNOWN),
    _case("a boolean is no text", "true", True, UNKNOWN),
    _case("bytes are no text", "fox", b"fox", UNKNOWN),
    _case("a record is no text", "fox", {"b": "fox"}, UNKNOWN),
    _case("null is no text", "fox", None, UNKNOWN),
    _case("NOT inside, a number is no text", "NOT fox", 42, UNKNOWN),
    _case("an array of texts", "fox", ["dog", "fox"], True),
    _case("an array of texts, none", "fox", ["dog", "cow"], False),
    _case("an array of texts, a phrase across two", '"dog fox"', ["dog", "fox"], False),
    _case("an array of a text and a number", "fox", ["dog", 5], UNKNOWN),
    _case("a long text", "needle", "hay " * 200 + "needle", True),
    _case("a long text without", "needle", "hay " * 200, False),
]

# The analyser `english` cuts every word to its stem, in texts and in patterns alike.
STEMMING = Settings(analyser=ENGLISH)

WITH_STEMMING = [
    _case("stems: another form in the text", "jump", FOX, True),
    _case("stems: another form in the pattern", "jumping", FOX, True),
    _case("stems: a plural in the pattern", "dogs", FOX, True),
    _case("stems: another word", "jungle", FOX, False),
    _case("stems: a phrase", '"foxes jumped"', FOX, True),
    _case("stems: a phrase out of order", '"jumped foxes"', FOX, False),
    _case("stems: a chain", "foxes ->[0,1] over", FOX, True),
    _case("stems: NOT of another form", "NOT dogs", FOX, False),
    _case("stems: case does not matter", "JUMPING", FOX, True),
    _case("stems: a wildcard word begins a stem", "jum*", FOX, True),
    _case("stems: a wildcard word is stemmed", "jumping*", FOX, True),
    _case("stems: a wildcard word that is longer than the stem", "jumpi*", FOX, False),
    _case("stems: a number is no text", "jump", 5, UNKNOWN),
    Case("stems: similarity", "similarity(a, 'dogs jumping') >= 1", {"a": "dog jumps"}, True),
    Case("stems: LIKE knows none", "a LIKE '%jumping%'", {"a": FOX}, False),
]
