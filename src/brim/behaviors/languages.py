"""Which language a file is written in, by its name: ``data/languages.tsv``."""

from __future__ import annotations

from brim.behaviors import tables

_table: dict[str, str] = {}


def language_of(path: str) -> str | None:
    """Return the language of the file at *path*, or None if its name does not say.

    >>> language_of("src/app.py"), language_of("web/Card.TSX"), language_of("Dockerfile"), language_of("notes")
    ('python', 'typescript', 'docker', None)
    """
    if not _table:
        _table.update((ending, language) for ending, language in tables.rows("languages.tsv"))
    name = path.replace("\\", "/").rsplit("/", 1)[-1].strip().lower()
    known = _table.get(name)
    while known is None and "." in name[1:]:
        # The longest ending first: `Dockerfile.dev` is none, but `.d.ts` and `.tar.gz` are of one kind each.
        name = name[name.index(".", 1) :]
        known = _table.get(name)
    return known


def known_languages() -> frozenset[str]:
    """Return every language that the table names."""
    language_of("")
    return frozenset(_table.values())
