"""From literals to tests, and from sequences of tests to tries in flat arrays, compiled.

The first test of a sequence is the item that it stands under, and each further one a node. Nodes lie in the order of a
walk, each as a test, the place after its subtree, how many answers it has, and these answers: where the test fails the
walk goes on at that place, and else with what follows. The nodes right under an item, its children, are most of what is
tested, and few of them hold. So their tests stand side by side in arrays of their own, a bit for each that must be set.
Also runs as plain Python (NUMBA_DISABLE_JIT=1).
"""

from __future__ import annotations

from tidings.index.compiling import compiled


@compiled
def write_tests(start, literal, program, chain_start, chain_item, chain_row, items, chains, tests, ends):  # type: ignore[no-untyped-def]
    """The tests of each conjunction in order, each once: items from the rarest on, chains, what must not be there,
    the program (-1 where there is none), and what is always true where there would be no first or second one.
    `chain_row` has -1 for a chain of one item, which is tested as that item."""
    written = 0
    for conjunction in range(len(start) - 1):
        first = written
        for i in range(start[conjunction], start[conjunction + 1]):
            chain = literal[i] if literal[i] >= 0 else ~literal[i]
            row, item = chain_row[chain], chain_item[chain_start[chain]]
            if literal[i] < 0:
                tests[written] = items + chains + (item if row < 0 else items + row)
                written += 1
                continue
            for j in range(chain_start[chain], chain_start[chain + 1]):
                tests[written] = chain_item[j]
                written += 1
            if row >= 0:
                tests[written] = items + row
                written += 1
        written = sorted_once(tests, first, written)
        if written == first or tests[first] >= items:  # nothing leads to it
            for i in range(written, first, -1):
                tests[i] = tests[i - 1]
            tests[first] = 2 * items + 2 * chains
            written += 1
        if program[conjunction] >= 0:
            tests[written] = 2 * items + 2 * chains + 1 + program[conjunction]
            written += 1
        if written == first + 1:
            tests[written] = 2 * items + 2 * chains
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
def make_tries(start, tests, order, answer, items, item_rows, child_bit, child_node, tries, path):  # type: ignore[no-untyped-def]
    """Writes the tries of the conjunctions, given in the `order` of their tests, with their answers in that order; how
    many children there are, and how long the tries are together."""
    children = end = depth = 0
    for at in range(len(order)):
        first, length = start[order[at]], start[order[at] + 1] - start[order[at]]
        item, common = min(tests[first], items), 1
        if item_rows[4 * item + 3] == 0:
            close_nodes(tries, path, 1, depth, end)
            item_rows[4 * item], depth = children, 1
        while common < depth and common < length and tries[path[common]] == tests[first + common]:
            common += 1
        close_nodes(tries, path, common, depth, end)
        for depth in range(common, length):
            if depth == 1:
                child_bit[children], child_node[children] = min(tests[first + 1], items), end
                children += 1
                item_rows[4 * item + 1] = children
            path[depth] = end
            tries[end], tries[end + 2] = tests[first + depth], 0
            end += 3
        depth = length
        tries[path[depth - 1] + 2] += 1
        tries[end] = answer[at]
        end += 1
        item_rows[4 * item + 3] += 1
    close_nodes(tries, path, 1, depth, end)
    return children, end


@compiled
def close_nodes(tries, path, first, depth, end):  # type: ignore[no-untyped-def]
    """Ends the subtrees of the nodes of a path from one depth on."""
    for i in range(first, depth):
        tries[path[i] + 1] = end


@compiled
def write_bits_of_items(item_rows, child_bit, items):  # type: ignore[no-untyped-def]
    """The bit of an only child is that of the item too; without children it is the one that is never set."""
    for item in range(len(item_rows) // 4):
        children = item_rows[4 * item + 1] - item_rows[4 * item]
        bit = items + 1 if children == 0 else items
        item_rows[4 * item + 2] = child_bit[item_rows[4 * item]] if children == 1 else bit
