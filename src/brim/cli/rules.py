"""What becomes of the rules of a file: which are new, which say what is known, and which are left out."""

from __future__ import annotations

from brim._frozen import Frozen
from brim.behaviors.behavior import Provenance
from brim.behaviors.duplicates import most_similar, normalized
from brim.behaviors.learning import id_of, infer_tags, learn
from brim.behaviors.markdown import read_rules
from brim.cli.importing import Change, Plan, as_stored
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from brim.behaviors.behavior import Behavior
    from brim.behaviors.markdown import Rule
    from brim.store.scopes import Scopes


class Outcome(Frozen):
    """What becomes of one rule: ``added``, ``merged``, ``known`` or ``left out``."""

    __slots__ = ("what", "file", "line", "text", "behavior", "changes", "why")

    what: str
    file: str
    line: int
    text: str
    behavior: Behavior | None
    """What it became, or what says it already; None if it is left out."""
    changes: tuple[str, ...]
    why: str

    def __init__(
        self,
        what: str,
        file: str,
        line: int,
        text: str,
        *,
        behavior: Behavior | None = None,
        changes: Iterable[str] = (),
        why: str = "",
    ) -> None:
        self._fill(what=what, file=file, line=line, text=text, behavior=behavior, changes=tuple(changes), why=why)

    @property
    def place(self) -> str:
        """Where it stands: file and line."""
        return f"{self.file}:{self.line}"

    def as_object(self) -> dict[str, Any]:
        """Return it for a script."""
        found: dict[str, Any] = {name: getattr(self, name) for name in ("what", "file", "line", "text", "why")}
        return {**found, "changes": list(self.changes), "id": self.behavior.id if self.behavior is not None else None}


class RulesReader:
    """The rules of one or several files, on their way into *scope*."""

    def __init__(self, scope: str, now: float, near_duplicate: float) -> None:
        self.scope, self.now, self._near_duplicate = scope, now, near_duplicate
        self.files: list[str] = []
        self.secrets = 0
        self.outcomes: list[Outcome] = []
        """What becomes of each rule, in the order of the files, by the latest ``plan``."""
        self._rules: list[Rule] = []
        self._skipped: list[Outcome] = []

    def read(self, text: str, name: str) -> None:
        """Add the rules in *text*, the content of the file *name*, with its secrets masked: they are shown, too."""
        from brim.masking import masked

        text, secrets = masked(text)
        found = read_rules(text, name)
        self.files.append(name)
        self.secrets += secrets
        self._rules += found.rules
        self._skipped += [Outcome("left out", name, each.line, each.text, why=each.why) for each in found.skipped]

    def plan(self, scopes: Scopes) -> Plan:
        """Return what would be written, given what is stored."""
        store = scopes.project if self.scope == "project" else scopes.user
        before = {each.id: each.replace(scope=self.scope) for each in (store.behaviors() if store is not None else ())}
        after = dict(before)
        self.outcomes = [self._learned(rule, after) for rule in self._rules] + self._skipped
        written = [id for id, behavior in after.items() if before.get(id) != behavior]
        changes = []
        for id in written:
            behavior, old = as_stored(after[id]), before.get(id)
            fields = [
                field for field in behavior.__match_args__ if getattr(behavior, field) != getattr(old, field, None)
            ]
            changes.append(Change(behavior, old, fields if old is not None else ()))
        same = dict.fromkeys(each.behavior.id for each in self.outcomes if each.what == "known" and each.behavior)
        return Plan(changes, [id for id in same if id not in written], notes=self._elsewhere(scopes, changes))

    def _learned(self, rule: Rule, known: dict[str, Behavior]) -> Outcome:
        """Learn *rule*, and put what it became into *known*."""
        there = _same(rule.text, known)
        if there is not None:
            why = "" if there.live else f"{there.status} here, and stays so"
            return Outcome("known", rule.file, rule.line, rule.text, behavior=there, why=why)
        try:
            learned = learn(
                rule.text,
                tags=infer_tags(f"{rule.heading}\n{rule.text}"),
                kind="procedure" if rule.steps else None,
                when={},
                scope=self.scope,
                source="rules",
                now=self.now,
                existing=known.values(),
                near_duplicate=self._near_duplicate,
            )
        except InputError as error:
            return Outcome("left out", rule.file, rule.line, rule.text, why=str(error))
        behavior, old = learned.behavior, learned.merged_with
        if old is None:
            came = Provenance("rules", at=self.now, file=rule.file, note=rule.heading)
            behavior = behavior.replace(provenance=came)
            known[behavior.id] = behavior
            return Outcome("added", rule.file, rule.line, rule.text, behavior=behavior)
        # A file that says it too has not used it: how it has fared stays.
        behavior = behavior.replace(usage=old.usage, confidence=old.confidence)
        known[behavior.id] = behavior
        return Outcome("merged", rule.file, rule.line, rule.text, behavior=behavior, changes=learned.changes)

    def _elsewhere(self, scopes: Scopes, changes: list[Change]) -> list[str]:
        """Say which of the new ones the other scope says nearly the same of."""
        other = scopes.user if self.scope == "project" else scopes.project
        others = [each for each in (other.behaviors() if other is not None else ()) if each.live]
        notes = []
        for change in changes:
            found = most_similar(change.behavior.canonical, [each.canonical for each in others])
            if change.old is None and found is not None and found.similarity >= self._near_duplicate:
                near = others[found.index]
                whose = "for every project" if self.scope == "project" else "in this project"
                notes.append(f"{change.behavior.name} says nearly the same as {near.name} ({near.id}) {whose}")
        return notes


def _same(text: str, known: dict[str, Behavior]) -> Behavior | None:
    """Return the behavior that says exactly *text*, or once did, whatever its status."""
    from brim.behaviors.learning import cleaned

    text = cleaned(text)
    by_id = known.get(id_of(text))
    if by_id is not None:
        return by_id
    same = normalized(text)
    for each in known.values():
        if any(normalized(said) == same for said in (each.canonical, *each.variants)):
            return each
    return None
