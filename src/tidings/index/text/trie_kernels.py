"""From literals to tests, and from sequences of tests to a trie in flat arrays, compiled.

Also runs as plain Python (NUMBA_DISABLE_JIT=1).
"""

from __future__ import annotations

from tidings.index.compiling import compiled


@compiled
def write_tests(start, literal, chain_start, chain_item, chain_number, items, chains, tests, ends):  # type: ignore[no-untyped-def]
    """The tests of each conjunction in order, each once: items from the rarest on, chains, what must not be there.
    `chain_number` has -1 for a chain of one item, which is tested as that item."""
    written = 0
    for conjunction in range(len(start) - 1):
        first = written
        for i in range(start[conjunction], start[conjunction + 1]):
            chain = literal[i] if literal[i] >= 0 else ~literal[i]
            number, item = chain_number[chain], chain_item[chain_start[chain]]
            if literal[i] < 0:
                tests[written] = items + chains + (item if number < 0 else items + number)
                written += 1
                continue
            for j in range(chain_start[chain], chain_start[chain + 1]):
                tests[written] = chain_item[j]
                written += 1
            if number >= 0:
                tests[written] = items + number
                written += 1
        written = sorted_once(tests, first, written)
        if written == first or tests[first] >= items:  # nothing leads to it
            for i in range(written, first, -1):
                tests[i] = tests[i - 1]
            tests[first] = 2 * items + 2 * chains
            written += 1
        ends[conjunction] = written


@compiled
def sorted_once(tests, first, end):  # type: ignore[no-untyped-def]
    """Sorts a part of an array, and leaves each number in it once; its new end. By insertion: conjunctions are short,
    and numpy's sort takes longer to compile than the rest of this file."""
    kept = first
    for i in range(first, end):
        test, at = tests[i], kept
        while at > first and tests[at - 1] > test:
            at -= 1
        if at > first and tests[at - 1] == test:
            continue
        for j in range(kept, at, -1):
            tests[j] = tests[j - 1]
        tests[at] = test
        kept += 1
    return kept


@compiled
def lead_with(start, tests, chosen):  # type: ignore[no-untyped-def]
    """Brings the chosen test of each conjunction to its front, the others following in their order."""
    for conjunction in range(len(start) - 1):
        at = start[conjunction] + chosen[conjunction]
        leading = tests[at]
        while at > start[conjunction]:
            tests[at] = tests[at - 1]
            at -= 1
        tests[at] = leading


@compiled
def make_trie(start, tests, order, nodes, answers, path):  # type: ignore[no-untyped-def]
    """Writes the nodes of the trie of the conjunctions, given in the `order` of their tests; how many there are. The
    answers of a node are the conjunctions that end there, by their places in that order."""
    count = depth = 0
    for at in range(len(order)):
        first, length = start[order[at]], start[order[at] + 1] - start[order[at]]
        common = 0
        while common < depth and common < length and nodes[2 * path[common]] == tests[first + common]:
            common += 1
        while depth > common:
            depth -= 1
            nodes[2 * path[depth] + 1] = count
        while depth < length:
            path[depth] = count
            nodes[2 * count] = tests[first + depth]
            answers[count] = at
            count += 1
            depth += 1
    while depth > 0:
        depth -= 1
        nodes[2 * path[depth] + 1] = count
    answers[count] = len(order)
    return count


@compiled
def find_roots(nodes, answers, item_rows):  # type: ignore[no-untyped-def]
    """Writes where the trie under each item begins, and how many conjunctions it has."""
    node, items = 0, len(item_rows) // 2 - 1
    while 2 * node < len(nodes):
        item, end = min(nodes[2 * node], items), nodes[2 * node + 1]
        item_rows[2 * item] = node
        item_rows[2 * item + 1] = answers[end] - answers[node]
        node = end
