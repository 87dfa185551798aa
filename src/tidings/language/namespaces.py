"""The prefixes of an XPath expression: `prefix=namespace` pairs with space between, as in 'a=http://a.org b=urn:b'.

A tree knows namespaces only, and no prefixes, so that what is asked does not depend on how it is spelled; its canonical
text has the prefixes n1, n2 and so on in the order in which they are used. `xml` stands for its namespace everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tidings.errors import LimitError, SubscriptionError
from tidings.model.xpath import XML_NAMESPACE, split_name

MAXIMUM_LENGTH = 4_096  # characters of all namespaces together; prefixes are not counted, since they are written anew
MAXIMUM_PREFIXES = 64

NO_NAMESPACES: Mapping[str, str] = {}

_LETTERS = (  # NameStartChar of XML 1.0, fifth edition, without the colon
    "A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f\u2c00-\u2fef"
    "\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
NAME = re.compile(rf"[{_LETTERS}][{_LETTERS}\-.0-9\xb7\u0300-\u036f\u203f\u2040]*")
_USAGE = "write namespaces => 'a=http://a.org b=urn:b'"
_PAIR = re.compile(r"\S+")
_ODD = re.compile("[\x00-\x20\x7f'\"<>{}\ud800-\udfff\ufffe\uffff]")


def read_namespaces(text: str) -> Mapping[str, str]:
    """The namespaces by their prefixes, or a SubscriptionError that points at the fault."""
    found: dict[str, str] = {}
    for pair in _PAIR.finditer(text):
        prefix, sign, namespace = pair.group().partition("=")
        start, length = pair.start(), len(pair.group())
        if not sign or not namespace:
            raise SubscriptionError(f"{pair.group()} is no prefix=namespace", text, start, length=length, hint=_USAGE)
        if not NAME.fullmatch(prefix):
            problem = f"{prefix!r} cannot be a prefix" if prefix else "a namespace without a prefix"
            hint = "a name without a prefix has no namespace; give the namespace a prefix, and write it before names"
            raise SubscriptionError(problem, text, start, length=max(1, len(prefix)), hint=hint)
        if prefix in ("xml", "xmlns") or prefix in found:
            problem = f"the prefix {prefix} {'stands twice' if prefix in found else 'is reserved'}"
            raise SubscriptionError(problem, text, start, length=len(prefix), hint="choose another one")
        if odd := _ODD.search(namespace):
            problem = f"the character {odd.group()!r} cannot stand in a namespace"
            raise SubscriptionError(problem, text, start + len(prefix) + 1 + odd.start(), hint="leave it out")
        found[prefix] = namespace
        if len(found) > MAXIMUM_PREFIXES:
            raise LimitError(f"at most {MAXIMUM_PREFIXES} prefixes are allowed", text, start)
        if sum(map(len, found.values())) > MAXIMUM_LENGTH:
            raise LimitError(f"namespaces of at most {MAXIMUM_LENGTH} characters are allowed", text, start)
    if not found:
        raise SubscriptionError("there is no namespace", text, 0, hint=_USAGE)
    return found


class Prefixes:
    """Writes names with canonical prefixes, and remembers what they stand for."""

    def __init__(self) -> None:
        self._of: dict[str, str] = {}  # namespace to prefix

    def name(self, name: str) -> str:
        namespace, local = split_name(name)
        if not namespace:
            return name
        if namespace == XML_NAMESPACE:
            return f"xml:{local}"
        return f"{self._of.setdefault(namespace, f'n{len(self._of) + 1}')}:{local}"

    def __str__(self) -> str:
        """What `read_namespaces` reads; nothing if no name has a prefix that must be declared."""
        return " ".join(f"{prefix}={namespace}" for namespace, prefix in self._of.items())
