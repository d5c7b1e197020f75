"""What the verbs of a sentence forbid to do with files: *don't touch*, *never commit*."""

from __future__ import annotations

from collections.abc import Iterable

from brim.rules.checks.check import COMMIT, CREATE, DELETE, EDIT, EXISTING, READ
from brim.rules.checks.sentence import PATH, Token

VERBS = {
    "EDIT": (EDIT,),
    "TOUCH": (EDIT, DELETE),
    "READ": (READ,),
    "DELETE": (DELETE,),
    "COMMIT": (COMMIT,),
    "PUSH": (COMMIT,),
}
"""What verbs forbid to do with a file."""
ACTS_IN_WORDS = {
    EDIT: "edits of",
    EXISTING: "edits of",
    CREATE: "new files in",
    DELETE: "deletion of",
    READ: "reading",
    COMMIT: "git add of",
}
_OTHER_VERBS = ("ADD", "CREATE", "LEAVE", "SKIP", "WRITE", "NEW", "SINGLE", "TASK", "CHANGED")
"""What those verbs may mean too, and words around them."""


def allowed_with_verbs() -> frozenset[str]:
    """Return the concepts that a sentence about files may have."""
    return frozenset((*VERBS, *_OTHER_VERBS))


def acts_of_verbs(tokens: list[Token]) -> tuple[str, ...]:
    """Return what the verbs among *tokens* forbid; a ban without a verb forbids to touch."""
    acts: list[str] = []
    for token in tokens:
        if not token.says(PATH, "FILES", "EXISTING"):
            acts += _acts_of_verb(token)
    if not acts and _puts_into_repository(tokens):
        acts.append(COMMIT)
    if not acts and any(token.says("BAN", "FROZEN") for token in tokens):
        acts = [EDIT, DELETE]
    return tuple(dict.fromkeys(acts))


def _acts_of_verb(token: Token) -> list[str]:
    acts: list[str] = []
    for concept, verb_acts in VERBS.items():
        if token.says(concept):
            acts += verb_acts
    return acts


def _puts_into_repository(tokens: list[Token]) -> bool:
    """Whether the sentence speaks of adding something to git."""
    words: set[str] = set()
    for token in tokens:
        words.update(token.text.split())
    has_place = not words.isdisjoint(("git", "repo", "repository", "repositorio"))
    return has_place and any(token.says("ADD", "LEAVE") for token in tokens)


def acts_in_words(acts: Iterable[str]) -> str:
    """Return *acts* as a promise names them: ``edits of and git add of``."""
    words = dict.fromkeys([ACTS_IN_WORDS[act] for act in acts])
    return " and ".join(words)
