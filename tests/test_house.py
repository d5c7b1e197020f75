"""The house as a whole: names are used once."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "brim"


def test_every_class_has_a_name_of_its_own() -> None:
    names: Counter[str] = Counter()
    for path in PACKAGE.rglob("*.py"):
        if "_startup" in path.parts:  # stand-ins have the names of what they stand for
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                names[node.name] += 1
    assert [name for name, count in names.items() if count > 1] == []


def test_the_check_of_handwriting_finds_weak_names_and_long_lines(tmp_path: Path) -> None:
    for name in ("scripts/handwriting.py", "scripts/handwriting.tsv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "scripts" / "handwriting.tsv").write_text("", encoding="utf-8")
    module = tmp_path / "src" / "brim" / "new.py"
    module.parent.mkdir(parents=True)
    check = [sys.executable, str(tmp_path / "scripts" / "handwriting.py")]

    module.write_text("rules = [rule for rule in ()]\n", encoding="utf-8")
    assert subprocess.run(check, check=False).returncode == 0

    module.write_text("found = 1\n", encoding="utf-8")
    weak = subprocess.run(check, capture_output=True, text=True, check=False)
    assert (weak.returncode, "weak_names=1" in weak.stderr) == (1, True)

    module.write_text(f"rules = '{'x' * 100}'\n", encoding="utf-8")
    assert subprocess.run(check, capture_output=True, check=False).returncode == 1


def test_few_functions_import() -> None:
    """A function imports an extra package, or a room that takes long to load."""
    places: set[tuple[Path, int]] = set()
    for path in PACKAGE.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                continue
            for node in ast.walk(function):
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    places.add((path, node.lineno))
    assert len(places) <= 60


def test_no_module_imports_private_parts_of_python() -> None:
    modules: set[str] = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                modules |= {alias.name for alias in node.names}
            if isinstance(node, ast.ImportFrom):
                modules.add(node.module or "")
    private = {name for name in modules if name.startswith("_")}
    assert private == {"__future__", "_sha2", "_sha256"}  # hashlib would load OpenSSL


KNOW_AGENTS = ("agents", "models", "tokens", "sessions")
"""Rooms that name agents: their folders, their models and how these count, what they write down."""


def test_no_other_room_names_an_agent() -> None:
    named = []
    for path in PACKAGE.rglob("*.py"):
        room = path.relative_to(PACKAGE).parts[0]
        if room in KNOW_AGENTS:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and node.value in ("claude", "codex", "opencode"):
                named.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert named == []


DOORS = ("cli", "mcp", "ui")
COMMAND_LINES = 40
"""Lines that a function of a command has at most, without its help."""

NOT_FOR_DOORS = {
    "sqlite3",
    "psycopg",
    "fcntl",
    "msvcrt",
    "brim.database",
    "brim.money.postgres_",
    "brim.money.opening.open_ledger",
    "brim.files.locked",
    "brim.files.replace_file",
    "brim.agents.jsonc",
}
"""What opens a database, takes a lock or edits an agent's file."""


def test_a_command_has_at_most_forty_lines() -> None:
    long = []
    for path in (PACKAGE / "cli").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef):
                continue
            first = node.body[0].lineno
            if ast.get_docstring(node) is not None and len(node.body) > 1:
                first = node.body[1].lineno
            lines = (node.end_lineno or first) - first + 1
            if lines > COMMAND_LINES:
                long.append(f"{path.name}: {node.name} has {lines} lines")
    assert long == []


def test_a_door_opens_no_database_takes_no_lock_and_edits_no_file_of_an_agent() -> None:
    imports = []
    for door in DOORS:
        for path in (PACKAGE / door).rglob("*.py"):
            for name in imported_names(path):
                if name in NOT_FOR_DOORS or name.rpartition(".")[0] in NOT_FOR_DOORS:
                    imports.append(f"{path.relative_to(PACKAGE)}: {name}")
    assert imports == []


def imported_names(path: Path) -> list[str]:
    """Return what the module at *path* imports, each with its module."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names
