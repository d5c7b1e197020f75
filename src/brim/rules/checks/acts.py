"""What the verbs of a statement forbid to do with files: *don't touch*, *never commit*."""

from __future__ import annotations

from collections.abc import Iterable

from brim.rules.checks.check import COMMIT, CREATE, DELETE, EDIT, EXISTING, READ
from brim.rules.checks.tokens import PATH, Statement

VERBS = {
    "EDIT": (EDIT,),
    "TOUCH": (EDIT, DELETE),
    "READ": (READ,),
    "DELETE": (DELETE,),
    "COMMIT": (COMMIT,),
    "PUSH": (COMMIT,),
}
"""What verbs forbid to do with a file."""
ABOUT_VERBS = (
    *VERBS,
    "ADD",
    "CREATE",
    "LEAVE",
    "SKIP",
    "WRITE",
    "NEW",
    "SINGLE",
    "TASK",
    "CHANGED",
)
"""What a sentence with such a verb may say, also around it."""
_ACTS_IN_WORDS = {
    EDIT: "edits of",
    EXISTING: "changes to",
    CREATE: "new files in",
    DELETE: "deleting",
    READ: "reading",
    COMMIT: "git add of",
}
_REPOSITORY = ("git", "repo", "repository", "repositorio")


def acts_of_verbs(statement: Statement) -> tuple[str, ...]:
    """Return what the verbs of *statement* forbid; a ban without a verb forbids to touch.

    >>> from brim.rules.checks.clauses import read_clauses
    >>> acts_of_verbs(read_clauses("Never read or commit .env", "en")[0].statement)
    ('read', 'commit')
    """
    acts: dict[str, None] = {}
    verbs = statement.without(PATH, "FILES", "EXISTING")
    for concept, verb_acts in VERBS.items():
        if verbs.says(concept):
            acts |= dict.fromkeys(verb_acts)
    if acts:
        return tuple(acts)
    has_place = not statement.words.isdisjoint(_REPOSITORY)
    if has_place and statement.says("ADD", "LEAVE"):
        return (COMMIT,)
    if statement.says("BAN", "FROZEN"):
        return (EDIT, DELETE)
    return ()


def acts_in_words(acts: Iterable[str], object_name: str) -> str:
    """Return what a person calls *acts* on the files *object_name*.

    >>> acts_in_words(("edit", "delete"), "legacy/"), acts_in_words(("read", "commit"), ".env")
    ('changes to files in legacy/', 'reading and git add of .env')
    """
    remaining = list(acts)
    words: dict[str, None] = {}
    if EDIT in remaining and DELETE in remaining:
        remaining = [act for act in remaining if act not in (EDIT, DELETE)]
        words["changes to"] = None
    words |= dict.fromkeys([_ACTS_IN_WORDS[act] for act in remaining])
    if object_name.endswith("/") and "new files in" not in words:
        object_name = f"files in {object_name}"
    return f"{' and '.join(words)} {object_name}"
