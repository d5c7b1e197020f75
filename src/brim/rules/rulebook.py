"""``Rulebook``: every rule that counts in one place, and what a person may do with it.

Doors use it: the command line, the page and the server for agents. Whatever changes through it is
text in a rules file, and counts as accepted, because a person asked for it.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

from brim.errors import InputError
from brim.masking import mask, masked
from brim.record import PlainData
from brim.rules.accepted import AcceptedRules, CheckDecisions, RuleProposal, decide_project
from brim.rules.checks import RuleCheck
from brim.rules.compiled import NAME as INDEX
from brim.rules.compiled import RuleIndex, open_index
from brim.rules.file import NAME, REMOVED, RulesFile
from brim.rules.inbox import Inbox
from brim.rules.keeping import check_of, check_of_words, kept_words
from brim.rules.losses import forget_losses, unreported_losses
from brim.rules.native import all_files
from brim.rules.native_reading import read_native
from brim.rules.paragraphs import Paragraph, split_text, without
from brim.rules.prose import inferred_condition
from brim.rules.reading import RulesText, is_invisible, read_rules
from brim.rules.rebuilding import index_in_memory
from brim.rules.rule import OFF as CHECKS_OFF
from brim.rules.rule import PROPOSED, WrittenRule, patterns_of
from brim.rules.source import NATIVE, PROJECT, USER, RuleSource, sources_for, user_native
from brim.rules.when import Condition

PLACES = (USER, PROJECT)
"""The places whose files brim changes."""

ACTIVE = "active"
WAITING = "waiting"
"""New or changed in a project's file, and not accepted yet."""
OFF = "off"
REMOVAL = "removed"
"""Gone from a project's file; it holds until its removal is accepted."""

WORDS_IN_NAME = 6
LONGEST_NAME = 48
LONGEST_TEXT = 10_000
"""Characters of a rule that is learned."""
MOST_SIMILAR = 3

_WORD = re.compile(r"[^\W_]+(?:[.'’][^\W_]+)*")
_FILLERS = frozenset(["a", "an", "and", "always", "please", "that", "the", "this", "we", "you"])
_MASKED_KEYS = ("text", "summary", "instead_of")


@dataclass(frozen=True)
class RuleEntry(PlainData):
    """A rule, and where it stands."""

    rule: WrittenRule
    place: str
    """``user``, ``project`` or ``native``."""
    path: str
    state: str = ACTIVE
    native: RuleSource | None = None
    """The native file that it's in."""
    decision: str = ""
    """What a person has said about its check, if it's in a native file: ``off`` or ``proposed``;
    empty if they agreed."""

    @property
    def name(self) -> str:
        """Its name, which is its id in its place."""
        return self.rule.name

    @property
    def condition(self) -> Condition:
        """When it's told: as declared, else as its words say."""
        return self.rule.when or inferred_condition(self.rule.text, self.rule.section)

    @property
    def is_inferred(self) -> bool:
        """Whether the condition was read from its words."""
        return bool(self.condition) and not self.rule.when

    @property
    def check_state(self) -> str:
        """``off`` or ``proposed`` if no call is compared with its words; empty if calls are."""
        return self.decision or self.rule.checks

    @property
    def is_kept(self) -> bool:
        """Whether brim notices that it's broken."""
        return bool(kept_words(self.rule, is_agreed=not self.check_state))

    @property
    def is_proposed(self) -> bool:
        """Whether it could be checked, and a person hasn't decided about that."""
        return self.check_state == PROPOSED and check_of_words(self.rule) is not None

    @property
    def check(self) -> RuleCheck | None:
        """What shows that it's broken, its blocks apart."""
        return check_of(self.rule, is_agreed=not self.check_state)


@dataclass(frozen=True)
class LearnedRule(PlainData):
    """What became of a rule that a person taught."""

    entry: RuleEntry
    is_new: bool
    """Whether no rule of its file said the same."""
    replaced: tuple[str, ...] = ()
    """The names of the rules whose place it took."""
    secrets: int = 0
    """How many secrets in it were masked."""


class Rulebook:
    """The rules of a user, and those of a project if there is one."""

    def __init__(self, home: str, project: str | None, user_files: Iterable[str] = ()) -> None:
        self.home = home
        self.project = project
        self.user_files = tuple(user_files)
        """The native files in the user's home."""
        self.inbox = Inbox(home)
        self.removed = RulesFile(os.path.join(home, REMOVED))

    @cached_property
    def accepted(self) -> AcceptedRules:
        """What the user has accepted of the project."""
        return AcceptedRules(self.home, self.project)

    @property
    def is_trusted(self) -> bool:
        """Whether the user has accepted the project."""
        return self.project is not None and self.accepted.exists

    def file(self, place: str) -> RulesFile:
        """Return the rules file of *place*."""
        if place == USER:
            return RulesFile(os.path.join(self.home, NAME), follow_links=True)
        if self.project is None:
            raise InputError("not in a project: run this in a git repository, or say --user")
        return RulesFile(os.path.join(self.project, ".brim", NAME))

    @property
    def files(self) -> list[tuple[str, RulesFile]]:
        """Each place with its rules file, whether that exists or not."""
        places = [(USER, self.file(USER))]
        if self.project is not None:
            places.append((PROJECT, self.file(PROJECT)))
        return places

    # What there is --------------------------------------------------------------------------------

    def entries(self, *, native: bool = True) -> list[RuleEntry]:
        """Return every rule of every place, in the order of the files."""
        entries: list[RuleEntry] = []
        for rule, path in self._rules_of(USER):
            entries.append(RuleEntry(rule, USER, path, OFF if rule.off else ACTIVE))
        if self.project is not None:
            entries += self._project_entries()
        if native:
            entries += self._native_entries()
        return entries

    def _project_entries(self) -> Iterator[RuleEntry]:
        states = {proposal.name: WAITING for proposal in self.proposals()}
        names: set[str] = set()
        for rule, path in self._rules_of(PROJECT):
            names.add(rule.name)
            state = OFF if rule.off else ACTIVE
            yield RuleEntry(rule, PROJECT, path, states.get(rule.name, state))
        if not self.is_trusted:
            return
        for rule in self.accepted.load().wording.rules:
            if rule.name in states and rule.name not in names:
                yield RuleEntry(rule, PROJECT, self.accepted.path, REMOVAL)

    def _rules_of(self, place: str) -> list[tuple[WrittenRule, str]]:
        """Return the rules of *place*, each with its file; if that is gone or can't be used, the
        accepted ones, which go on applying."""
        file = self.file(place)
        content = file.content()
        if not content.problem:
            return [(rule, file.path) for rule in read_rules(content.text).rules]
        accepted = self._accepted(place)
        return [(rule, accepted.path) for rule in accepted.load().wording.rules]

    def _native_entries(self) -> Iterator[RuleEntry]:
        paths: set[str] = set()
        for source in self._native_sources():
            real = os.path.realpath(source.path)
            if real in paths or source.native is None:
                continue
            paths.add(real)
            decisions = CheckDecisions(source.accepted_folder)
            agreed = decisions.agreed
            declined = decisions.declined
            folder = source.project or os.path.dirname(source.path)
            for rule in read_native(source.native, folder).rules:
                decision = PROPOSED
                if rule.digest in agreed:
                    decision = ""
                elif rule.digest in declined:
                    decision = CHECKS_OFF
                yield RuleEntry(rule, NATIVE, source.path, native=source, decision=decision)

    def _native_sources(self) -> Iterator[RuleSource]:
        for path in self.user_files:
            yield user_native(path, self.home)
        if self.project is not None:
            for file in all_files(self.project):
                yield RuleSource(NATIVE, file.path, self.home, self.project, file)

    def place_of(self, entry: RuleEntry) -> str:
        """Return what names the place of a rule where brim notes what happened because of it."""
        return RuleSource(entry.place, entry.path, self.home, self.project).place

    def find(self, name: str, place: str = "") -> RuleEntry:
        """Return the rule that *name* means: its name, or a part of its name or text that no other
        rule has."""
        entries = []
        for entry in self.entries():
            if place in ("", entry.place) and entry.state != REMOVAL:
                entries.append(entry)
        matches = matching(entries, name)
        own = [entry for entry in matches if entry.place != NATIVE]
        for group in (own, matches):
            if len(group) == 1:
                return group[0]
        if matches:
            names = ", ".join([f"{entry.name} ({entry.place})" for entry in matches[:MOST_SIMILAR]])
            raise InputError(f"{name!r} could be {names}: give the whole name, --user or --project")
        raise InputError(f"no rule matches {name!r}{_similar([e.name for e in entries], name)}")

    def own(self, name: str, place: str = "") -> RuleEntry:
        """Return the rule that *name* means, which brim may change: it's in a rules file."""
        entry = self.find(name, place)
        if entry.place == NATIVE:
            line = f"{entry.path}, line {entry.rule.line}"
            raise InputError(f"that rule is in {line}: change it there, brim only reads that file")
        return entry

    def texts(self) -> list[tuple[str, RulesText]]:
        """Return each rules file that can be read, with its path: for mistakes and duplicates."""
        return [(file.path, file.read()) for _, file in self.files]

    # What changes ---------------------------------------------------------------------------------

    def learn(
        self, place: str, fields: Mapping[str, object], *, replaces: Iterable[RuleEntry] = ()
    ) -> LearnedRule:
        """Write a rule with these *fields* into the file of *place*.

        If a rule there says the same, it gets what is new in *fields*. Secrets are masked.
        """
        written, secrets = _masked(fields)
        text = str(written.get("text", ""))
        check_text(text)
        name = str(written.pop("name", "")) or name_for(text)
        file = self.file(place)
        old = _saying(file.read(), text)
        if old is None:
            name = file.add(name, written)
        else:
            name = old.name
            changes = _additions(old, written)
            if changes:
                file.change(name, changes)
        self.agree(place, [name])
        replaced = []
        for entry in replaces:
            if (entry.place, entry.name) != (place, name):
                self.remove(entry)
                replaced.append(entry.name)
        entry = self._entry(place, name)
        return LearnedRule(entry, old is None, tuple(replaced), secrets)

    def change(self, entry: RuleEntry, fields: Mapping[str, object]) -> RuleEntry:
        """Give *fields* of a rule other values; an empty one is removed."""
        written, _ = _masked(fields)
        self.file(entry.place).change(entry.name, written)
        self.agree(entry.place, [entry.name])
        return self._entry(entry.place, entry.name)

    def rewrite(self, entry: RuleEntry, paragraph: str) -> RuleEntry:
        """Put *paragraph* in place of a rule; it may have another name."""
        self.file(entry.place).replace(entry.name, paragraph)
        names = split_text(paragraph).names
        self.agree(entry.place, [entry.name, *names])
        return self._entry(entry.place, names[0])

    def paragraph(self, entry: RuleEntry) -> str:
        """Return the text of a rule as it stands in its file, with the comment above it."""
        paragraph = self.file(entry.place).read().split.named(entry.name)
        if paragraph is None:
            raise InputError(f"{entry.path}: no rule is called {entry.name!r}")
        return paragraph.body + "\n"

    def decide_check(self, entry: RuleEntry, *, yes: bool) -> None:
        """Note that a person wants calls to be compared with the words of a rule, or doesn't."""
        if entry.native is None:
            self.change(entry, {"checks": "" if yes else CHECKS_OFF})
            return
        source = entry.native
        CheckDecisions(source.accepted_folder, source.project).decide([entry.rule.digest], yes=yes)

    def remove(self, entry: RuleEntry, *, day: str = "") -> None:
        """Take a rule out of its file; ``removed.toml`` keeps it."""
        file = self.file(entry.place)
        # What is accepted changes first: else a hook that looks between the two would find a rule
        # that somebody took out of the file.
        text = file.content().text
        old = split_text(text).named(entry.name)
        if old is not None and self._counts(entry.place):
            self._accepted(entry.place).accept(without(text, old), [entry.name])
        project = self.project if entry.place == PROJECT else None
        file.remove(entry.name, self.removed, day=day, project=project or "")

    def restore(self, name: str, place: str = "") -> RuleEntry:
        """Bring a removed rule back into the file that it was in, or that of *place*."""
        split = self.removed.read().split
        paragraph = split.named(name)
        if paragraph is None:
            raise InputError(f"no removed rule is called {name!r}{_similar(split.names, name)}")
        place = place or self._place_before(paragraph)
        restored = self.file(place).restore(name, self.removed)
        forget_losses(self.home, unreported_losses(self.home))  # who restores one knows
        self.agree(place, [restored])
        return self._entry(place, restored)

    def _place_before(self, removed: Paragraph) -> str:
        """Return where a *removed* rule stood."""
        project = str(tomllib.loads(removed.text)[removed.name].get("project", ""))
        if not project:
            return USER
        if self.project is not None and os.path.realpath(project) == os.path.realpath(self.project):
            return PROJECT
        raise InputError(
            f"{removed.name!r} was removed from {project}: restore it there, or say --project or"
            " --user"
        )

    def restore_file(self, place: str) -> int:
        """Write a rules file again that is gone, from its accepted copy; return how many rules it
        has."""
        file = self.file(place)
        content = file.content()
        if content.text.strip() or (content.problem and not content.is_missing):
            return 0
        text = self._accepted(place).last_good_text()
        if not text:
            return 0
        with file.changing() as draft:
            draft.text = text
        return len(read_rules(text).rules)

    def accept_note(self, name: str, place: str, text: str = "") -> RuleEntry:
        """Make a rule of an inbox note, with other words if *text* has some."""
        if text:
            check_text(text)
            self.inbox.file.change(name, {"text": mask(text)})
        rule_name = self.inbox.accept(name, self.file(place))
        self.agree(place, [rule_name])
        return self._entry(place, rule_name)

    def dismiss_note(self, name: str, *, day: str = "") -> None:
        """Throw an inbox note away; ``removed.toml`` keeps it."""
        self.inbox.dismiss(name, self.removed, day)

    def _entry(self, place: str, name: str) -> RuleEntry:
        file = self.file(place)
        rule = file.read().rule(name)
        if rule is None:
            raise InputError(f"{file.path}: no rule is called {name!r}")
        state = OFF if rule.off else ACTIVE
        if place == PROJECT and rule.digest not in self.accepted.load().digests:
            state = WAITING
        return RuleEntry(rule, place, file.path, state)

    # Consent --------------------------------------------------------------------------------------

    def proposals(self) -> tuple[RuleProposal, ...]:
        """Return what of the project's file waits for the user."""
        if self.project is None:
            return ()
        file = self.file(PROJECT)
        return decide_project(file.content(), file.path, self.accepted.load()).proposals

    def trust(self, proposals: Iterable[RuleProposal]) -> None:
        """Accept the project, and those of its *proposals* that the user was shown."""
        content = self.file(PROJECT).content()
        proposed = {proposal.name: proposal.new for proposal in proposals}
        now = read_rules(content.text).split
        for name, text in proposed.items():
            paragraph = now.named(name)
            if (paragraph.body if paragraph is not None else "") != text:
                raise InputError(f"{name} changed in the meantime; nothing was accepted: try again")
        self.accepted.accept(content.text, list(proposed))

    def agree(self, place: str, names: Iterable[str]) -> None:
        """Note that the user wants the rules *names* of *place* as they are in its file now.

        Those of a project count only once the user has accepted the project.
        """
        if self._counts(place):
            self._accepted(place).accept(self.file(place).content().text, names)

    def _accepted(self, place: str) -> AcceptedRules:
        if place == USER:
            return AcceptedRules(self.home, None)
        return self.accepted

    def _counts(self, place: str) -> bool:
        return place == USER or self.is_trusted

    # The index ------------------------------------------------------------------------------------

    def open_index(self, touched: Iterable[str] = ()) -> RuleIndex:
        """Return the index of the rules that count here, brought up to date, with those of native
        files in the folders of the *touched* paths."""
        sources = sources_for(self.home, self.project, touched=touched, user_files=self.user_files)
        if not self._has_something_to_index(sources):  # only looking makes no file
            return index_in_memory(sources)
        return open_index(self.home, sources)

    def _has_something_to_index(self, sources: Iterable[RuleSource]) -> bool:
        """Whether an index is there, or a file that it would be made from."""
        if os.path.exists(os.path.join(self.home, INDEX)):
            return True
        paths: list[str] = []
        for source in sources:
            paths += [*source.watched, os.path.join(source.accepted_folder, NAME)]
        return os.path.isdir(self.home) and any(map(os.path.exists, paths))


# Texts and names ----------------------------------------------------------------------------------


def matching(entries: Iterable[RuleEntry], name: str) -> list[RuleEntry]:
    """Return those of *entries* that *name* means: by the whole name, else its beginning, else a
    part of name or text."""
    entries = list(entries)
    wanted = name.strip().casefold()
    if not wanted:
        raise InputError("the name is empty: brim rules lists the names")
    for is_meant in (_is_named, _begins, _contains):
        matches = [entry for entry in entries if is_meant(entry, wanted)]
        if matches:
            return matches
    return []


def _is_named(entry: RuleEntry, wanted: str) -> bool:
    return entry.name.casefold() == wanted


def _begins(entry: RuleEntry, wanted: str) -> bool:
    return entry.name.casefold().startswith(wanted)


def _contains(entry: RuleEntry, wanted: str) -> bool:
    return wanted in entry.name.casefold() or wanted in entry.rule.text.casefold()


def _similar(names: list[str], name: str) -> str:
    """Return what *name* may be meant to be: a name, or one with a word like it."""
    by_word = {name: name for name in names}
    for known_name in names:
        for word in known_name.split("-"):
            by_word.setdefault(word, known_name)
    similar = get_close_matches(name, by_word, 1)
    if similar:
        return f". Did you mean {by_word[similar[0]]}?"
    return ": brim rules lists them"


def check_text(text: str) -> None:
    """Raise unless *text* can be a rule."""
    if not any(sign.isprintable() and not sign.isspace() for sign in text):
        raise InputError("Say the rule, for example: brim learn 'Use uv, not pip'")
    if len(text) > LONGEST_TEXT:
        raise InputError(f"a rule has at most {LONGEST_TEXT:,} characters, not {len(text):,}")


def name_for(text: str) -> str:
    """Return a name for a rule, from its first words, without secrets.

    >>> name_for("Please always use uv, and never pip."), name_for("!")
    ('use-uv-never-pip', 'rule')
    >>> name_for("Don't touch the legacy folder")
    'dont-touch-legacy-folder'
    """
    words: list[str] = []
    for match in _WORD.finditer(mask(text)):
        # An apostrophe would be a quote in the shell in which the name is typed.
        word = match[0].casefold().replace("’", "").replace("'", "")
        if word in _FILLERS:
            continue
        longer = "-".join([*words, word])
        if len(words) == WORDS_IN_NAME or len(longer) > LONGEST_NAME:
            break
        words.append(word)
    return "-".join(words) or "rule"


def same_words(text: str) -> str:
    """Return *text* in the form in which two rules are compared: case and spaces don't count."""
    return " ".join(text.casefold().split()).rstrip(".!")


def visible(text: str) -> str:
    """Return *text* with each character that a person can't see as ``<U+200B>``."""
    signs = []
    for sign in text:
        hidden = is_invisible(ord(sign)) or not (sign.isprintable() or sign in "\n\t")
        signs.append(f"<U+{ord(sign):04X}>" if hidden else sign)
    return "".join(signs)


def _saying(text: RulesText, words: str) -> WrittenRule | None:
    """Return the rule in *text* that says the same as *words*."""
    wanted = same_words(words)
    for rule in text.rules:
        if same_words(rule.text) == wanted:
            return rule
    return None


def _masked(fields: Mapping[str, object]) -> tuple[dict[str, object], int]:
    """Return *fields* without secrets, and how many there were."""
    written = dict(fields)
    secrets = 0
    for key in ("block", "before_done", "passes"):
        if masked(str(written.get(key, "")))[1]:
            raise InputError(f"there is a secret in {key}: others may read your rules")
    for key in _MASKED_KEYS:
        value = written.get(key)
        if isinstance(value, str):
            plain = value.replace("\r\n", "\n").strip()
            written[key], count = masked(plain)
            secrets += count
    return written, secrets


def _additions(old: WrittenRule, fields: Mapping[str, object]) -> dict[str, object]:
    """Return what *fields* add to the rule *old*, which says the same."""
    additions: dict[str, object] = {}
    for key, value in fields.items():
        if key in ("text", "learned") or not value:
            continue
        additions[key] = value
        if key == "block" and isinstance(value, (list, tuple)):
            additions[key] = list(dict.fromkeys([*patterns_of(old.block), *value]))
    if old.off:
        additions["off"] = ""
    return additions
