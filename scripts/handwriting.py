"""Check the handwriting of src/brim: names that say something, and lines of at most 100 columns.

``scripts/handwriting.tsv`` lists the files written before this check, with the number of weak names
and long lines in each. These numbers may only fall, and a file that isn't listed has none. After
you have improved a file, ``python scripts/handwriting.py --write`` shortens the list.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = ROOT / "scripts" / "handwriting.tsv"
LONGEST_LINE = 100
WEAK_NAMES = """
    each found known given said told kept held shown taken made done seen heard had due here
    others rest more less most least much many theirs mine yours thing things stuff what
"""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Handwriting:
    """How often a file has what it shouldn't have."""

    weak_names: int
    long_lines: int

    def exceeds(self, allowed: Handwriting) -> bool:
        """Whether one of the numbers is higher than in *allowed*."""
        return self.weak_names > allowed.weak_names or self.long_lines > allowed.long_lines


CLEAN = Handwriting(0, 0)


def handwriting_of(path: Path) -> Handwriting:
    """Return the handwriting of one file."""
    text = path.read_text(encoding="utf-8")
    weak_words = frozenset(WEAK_NAMES.split())
    names = [bound_name(node) for node in ast.walk(ast.parse(text))]
    weak_names = sum(name.strip("_") in weak_words for name in names)
    long_lines = sum(len(line) > LONGEST_LINE for line in text.splitlines())
    return Handwriting(weak_names, long_lines)


def bound_name(node: ast.AST) -> str:
    """Return the name that *node* gives to something, or nothing."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, FUNCTIONS):
        return node.name
    return ""


def read_list() -> dict[str, Handwriting]:
    """Return what the files in the list may have."""
    allowed = {}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        name, weak_names, long_lines = line.split("\t")
        allowed[name] = Handwriting(int(weak_names), int(long_lines))
    return allowed


def write_list(current: dict[str, Handwriting]) -> None:
    """Write the files that aren't clean."""
    lines = [
        f"{name}\t{handwriting.weak_names}\t{handwriting.long_lines}\n"
        for name, handwriting in sorted(current.items())
        if handwriting != CLEAN
    ]
    LIST.write_text("".join(lines), encoding="utf-8")


def main() -> int:
    """Compare every file with the list; with ``--write``, shorten the list."""
    paths = sorted((ROOT / "src" / "brim").rglob("*.py"))
    current = {str(path.relative_to(ROOT)): handwriting_of(path) for path in paths}
    allowed = read_list()
    problems = 0
    for name, handwriting in current.items():
        limit = allowed.get(name, CLEAN)
        if handwriting.exceeds(limit):
            problems += 1
            print(f"{name}: {handwriting}, at most {limit}", file=sys.stderr)
    if problems:
        return 1
    if "--write" in sys.argv:
        write_list(current)
    elif allowed != {name: one for name, one in current.items() if one != CLEAN}:
        print("The handwriting is better than the list: python scripts/handwriting.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
