"""Text profiles without an index of them: each evaluated on a document's words in Python, and as a query of tantivy.

Both get the words of a document cut beforehand, by the same analyser, so that all answer the same questions and only
the matching is compared. tantivy holds one document at a time in memory, and is asked every profile as a query.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import tantivy

from tidings.analysis.patterns import Chain, chain_of, pattern_holds
from tidings.analysis.words import SIMPLE, Word
from tidings.model.text import AllOf, AnyOf, Not, Terms, TextPattern

FIELD = "text"
MOST_PHRASES = 64  # phrases that a chain is written out as


class WordSets:
    """A profile is first the set of words that it cannot do without; what is left to ask, the definition is asked."""

    def __init__(self, patterns: Sequence[TextPattern]) -> None:
        self._asked = [(_needed(pattern), None if _is_plain(pattern) else pattern) for pattern in patterns]

    def matches(self, words: Sequence[Word]) -> list[int]:
        there = {word.text for word in words}
        return [
            number
            for number, (needed, rest) in enumerate(self._asked)
            if needed <= there and (rest is None or pattern_holds(rest, words, SIMPLE))
        ]


def _needed(pattern: TextPattern) -> frozenset[str]:
    match pattern:
        case Terms():
            chain = _chain(pattern)
            return frozenset(word for number, word in enumerate(chain.words) if number not in chain.prefixes)
        case AllOf(parts):
            return frozenset().union(*map(_needed, parts))
        case AnyOf(parts):
            return frozenset.intersection(*map(_needed, parts))
        case Not():
            return frozenset()


def _is_plain(pattern: TextPattern) -> bool:
    """Whether the words alone decide it."""
    parts = pattern.parts if isinstance(pattern, AllOf) else (pattern,)
    return all(isinstance(part, Terms) and len(_chain(part).words) == 1 and not part.prefixes for part in parts)


def _chain(pattern: Terms) -> Chain:
    chain = chain_of(pattern, SIMPLE)
    assert chain is not None  # every term that is parsed has words for `simple`
    return chain


class Queries:
    """All profiles as queries of tantivy, made once, and an index of one document, made for each."""

    def __init__(self, patterns: Sequence[TextPattern]) -> None:
        # The tokenizer of the field cuts at white space, where nothing else is: words come cut and folded.
        builder = tantivy.SchemaBuilder()
        builder.add_text_field(FIELD, stored=False, tokenizer_name="words", index_option="position")
        self._schema = builder.build()
        self._words = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()
        self._queries = [self._query(pattern) for pattern in patterns]

    def matches(self, words: Sequence[Word]) -> list[int]:
        searcher = self._index(words).searcher()
        return [number for number, query in enumerate(self._queries) if searcher.search(query, 1, count=False).hits]

    def _index(self, words: Sequence[Word]) -> tantivy.Index:
        index = tantivy.Index(self._schema)
        index.register_tokenizer("words", self._words)
        writer = index.writer(15_000_000, 1)
        writer.add_document(tantivy.Document(**{FIELD: " ".join(word.text for word in words)}))
        writer.commit()
        index.reload()
        return index

    def _query(self, pattern: TextPattern) -> tantivy.Query:
        match pattern:
            case Terms():
                return self._chain_query(_chain(pattern))
            case AllOf(parts) if any(not isinstance(part, Not) for part in parts):
                return self._boolean([(_occurs(part), self._query(_denied(part))) for part in parts])
            case AllOf(parts):
                everything = (tantivy.Occur.Must, tantivy.Query.all_query())
                return self._boolean([everything, *((_occurs(part), self._query(_denied(part))) for part in parts)])
            case AnyOf(parts):
                return self._boolean([(tantivy.Occur.Should, self._query(part)) for part in parts])
            case Not(part):
                everything = (tantivy.Occur.Must, tantivy.Query.all_query())
                return self._boolean([everything, (tantivy.Occur.MustNot, self._query(part))])

    def _boolean(self, parts: Sequence[tuple[tantivy.Occur, tantivy.Query]]) -> tantivy.Query:
        return tantivy.Query.boolean_query(parts)

    def _chain_query(self, chain: Chain) -> tantivy.Query:
        if len(chain.words) == 1:
            return self._word_query(chain)
        if chain.prefixes or any(gap.most is None for gap in chain.gaps):
            raise ValueError("tantivy has phrases of whole words at stated places; wildcards and open gaps it has not")
        between = [range(gap.least, (gap.most or 0) + 1) for gap in chain.gaps]
        phrases = [self._phrase(chain.words, gaps) for gaps in product(*between)]
        if len(phrases) > MOST_PHRASES:
            raise ValueError(f"the chain is {len(phrases)} phrases to tantivy, and at most {MOST_PHRASES} are made")
        if len(phrases) == 1:
            return phrases[0]
        return self._boolean([(tantivy.Occur.Should, phrase) for phrase in phrases])

    def _phrase(self, words: Sequence[str], gaps: Sequence[int]) -> tantivy.Query:
        places = [0]
        for gap in gaps:
            places.append(places[-1] + gap + 1)
        return tantivy.Query.phrase_query(self._schema, FIELD, list(zip(places, words, strict=True)))

    def _word_query(self, chain: Chain) -> tantivy.Query:
        if chain.prefixes:
            return tantivy.Query.regex_query(self._schema, FIELD, f"{chain.words[0]}.*")
        return tantivy.Query.term_query(self._schema, FIELD, chain.words[0])


def _occurs(part: TextPattern) -> tantivy.Occur:
    return tantivy.Occur.MustNot if isinstance(part, Not) else tantivy.Occur.Must


def _denied(part: TextPattern) -> TextPattern:
    return part.part if isinstance(part, Not) else part
