"""Which part of tidings may import what: the two tables below, checked in every file of src/tidings.

A part is a folder of src/tidings, or a module directly in it. Imports count wherever they stand in a file, also inside
functions and for type checking only. Prints `file:line: what was found; what is allowed`, and exits with status 1 if
there is anything to print. Usage: python tools/check_imports.py [folder of the package]
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from importlib.util import resolve_name
from pathlib import Path

PACKAGE = "tidings"
PUBLIC = "__init__"  # the part that `import tidings` and `from tidings import parse` reach

# part -> the parts it may import, beside itself. Top to bottom: a part imports only what stands above it.
PARTS: dict[str, str] = {
    "errors": "",
    "model": "errors",
    "analysis": "errors model",
    "language": "errors model analysis",
    "reference": "errors model analysis language",
    "planning": "errors model analysis language reference",
    "explanation": "errors model analysis language planning reference",
    "rendezvous": "errors model analysis language planning reference",
    "index": "errors model analysis language planning reference rendezvous",
    "store": "errors model analysis language planning reference index",
    "batches": "errors model index",
    "thresholds": "errors model",
    "ranking": "errors model reference index batches",
    "rows": "errors model language index",
    "matcher": (
        "errors model analysis language planning reference explanation store rendezvous index batches thresholds "
        "ranking rows"
    ),
    "spark": "errors model analysis language reference planning rendezvous index store batches matcher",
    "service": "errors model analysis language planning rendezvous index matcher explanation",
    "overlay": "errors model",
    "systems": "errors model analysis language planning rendezvous overlay",
    PUBLIC: "errors model analysis language reference explanation thresholds matcher",
    "spark_session": "errors",
    "lab": "errors model analysis language planning rendezvous index reference overlay systems spark spark_session",
    "match_files": f"errors model analysis {PUBLIC} index spark spark_session",
    "demo": f"errors model {PUBLIC} language matcher explanation spark spark_session",
    "cli": (
        f"errors model analysis {PUBLIC} language planning reference explanation matcher demo match_files "
        "spark service lab"
    ),
    "__main__": "cli",
}

# package -> the only parts that import it: the others work, and start quickly, where it is not installed.
PACKAGES: dict[str, str] = {
    "pyspark": "spark spark_session match_files demo",
    "numba": "index overlay",
    "fastapi": "service",
    "starlette": "service",
    "uvicorn": "service",
    "psycopg": "spark",
    "matplotlib": "lab demo",
    "sqlglot": "language",
    "lxml": "analysis",
    "Stemmer": "analysis",
    "scipy": "analysis",
    "typer": "cli lab",
    "rich": "cli explanation demo",
}


def imported_names(tree: ast.Module, package: str) -> Iterator[tuple[int, str]]:
    """The line and absolute dotted name of every import in a file of `package`; `a.b` for `from a import b`."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, name.name) for name in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                origin = resolve_name("." * level + (module or ""), package)
                yield from ((node.lineno, f"{origin}.{name.name}") for name in names)
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield node.lineno, resolve_name(name, package)


def part_of(name: str) -> str:
    """The part of tidings that the import of `name` reaches; a name that is no part is one of the public interface."""
    first = name.split(".")[1:2]
    return first[0] if first and first[0] in PARTS else PUBLIC


def fault_in(part: str, name: str) -> str | None:
    """What is wrong with the import of `name` in `part`, or None."""
    top = name.split(".")[0]
    if top == PACKAGE:
        target = part_of(name)
        if target != part and target not in PARTS[part].split():
            allowed = ", ".join(PARTS[part].split()) or "no other part"
            return f"{part} imports {name} (part {target}); {part} may import: {allowed}"
    elif top in PACKAGES and part not in PACKAGES[top].split():
        return f"{part} imports {name}; {top} is for {', '.join(PACKAGES[top].split())} only"
    return None


def faults_in_file(path: Path, root: Path) -> Iterator[str]:
    inside = path.relative_to(root)
    part = inside.parts[0].removesuffix(".py")
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        imports = list(imported_names(tree, ".".join([PACKAGE, *inside.parts[:-1]])))
    except SyntaxError as error:
        yield f"{path}:{error.lineno}: cannot be parsed: {error.msg}"
        return
    except ImportError as error:  # more dots than there are folders
        yield f"{path}:1: {error}"
        return
    for line, name in imports:
        fault = fault_in(part, name)
        if fault is not None:
            yield f"{path}:{line}: {fault}"


def faults_in_package(root: Path) -> Iterator[str]:
    unknown: set[str] = set()
    for path in sorted(root.rglob("*.py")):
        first = path.relative_to(root).parts[0]
        part = first.removesuffix(".py")
        if part in PARTS:
            yield from faults_in_file(path, root)
        elif part not in unknown:
            unknown.add(part)
            yield f"{root / first}:1: {part} is in no row of PARTS in tools/check_imports.py; add a row for it"


def faults_in_tables() -> Iterator[str]:
    """A row that names a part below it, or one that does not exist: such a table could allow a circle."""
    above: list[str] = []
    for part, allowed in PARTS.items():
        for other in allowed.split():
            if other not in above:
                yield f"tools/check_imports.py: PARTS lets {part} import {other}, which does not stand above it"
        above.append(part)
    for package, parts in PACKAGES.items():
        for part in parts.split():
            if part not in PARTS:
                yield f"tools/check_imports.py: PACKAGES has {package} for {part}, which is no part"


def main(arguments: list[str]) -> int:
    root = Path(arguments[0]) if arguments else Path(__file__).parents[1] / "src" / PACKAGE
    if root.is_relative_to(Path.cwd()):
        root = root.relative_to(Path.cwd())  # short paths in messages
    if not (root / "__init__.py").is_file():
        print(f"{root} is not the folder of a package: it has no __init__.py", file=sys.stderr)
        return 2
    faults = [*faults_in_tables(), *faults_in_package(root)]
    print("\n".join(faults) or f"imports in {root} point one way")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
