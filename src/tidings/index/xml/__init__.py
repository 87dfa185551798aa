"""XPath questions about XML documents: one automaton for the paths of all of them. Begin with `layout` and `engine`."""
