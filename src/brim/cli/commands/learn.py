"""``brim learn``: learn a rule from a correction."""

from __future__ import annotations

from brim.behaviors.behavior import LIVE, BehaviorKind
from brim.behaviors.duplicates import most_similar, normalized
from brim.behaviors.learning import cleaned, learn
from brim.behaviors.yaml_form import FIELDS
from brim.cli.behaviors import as_object, cut, facts, named, one_line, tell_masked, tier_tokens, tokens_line
from brim.cli.learned import Place, add_scope, text_of, values_by_key
from brim.cli.output import note, printable, say, say_json
from brim.cli.settings import add_json
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from brim.behaviors.behavior import Behavior
    from brim.behaviors.learning import Learned
    from brim.store.scopes import Scopes

LONGEST = 300
"""Characters of a summary that are printed: a rule without a place to cut is its own summary."""

HELP = """\
Learn what is right, for this project or, with --user, for all of them. Kind, name, tags and conditions are found out
from the text, unless they are given. What says nearly the same as something that is known is merged into it, and both
texts are kept; --force-new keeps them apart. Secrets are masked.

Examples:
  brim learn --right 'Use uv, never pip.' --wrong 'pip install requests' --file setup.py
  brim learn --right 'Never push to main.' --kind constraint --user
  brim learn --right - --when language=python --when 'file=tests/**' --tags testing,style < rule.txt
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("--right", required=True, metavar="TEXT", help="what to do; - reads it from standard input")
    parser.add_argument("--wrong", default="", metavar="TEXT", help="what was done instead; - reads it from there")
    parser.add_argument(
        "--file", default="", metavar="FILE", help="file that it was about: its language is a condition"
    )
    parser.add_argument("--task", default="", metavar="TASK", help="what was being done, such as testing: a condition")
    parser.add_argument("--tags", default="", metavar="A,B", help="what it is about (default: found out)")
    parser.add_argument("--kind", metavar="KIND", help=f"one of {', '.join(BehaviorKind)} (default: found out)")
    parser.add_argument("--name", metavar="NAME", help="short name, A-Z a-z 0-9 . _ / - (default: from the text)")
    text = "condition under which it matters; may be repeated, and then replaces what would be found out"
    parser.add_argument("--when", action="append", metavar="KEY=VALUE", help=text)
    parser.add_argument("--summary", default="", metavar="TEXT", help="one line that keeps the sense (default: made)")
    parser.add_argument("--priority", type=int, metavar="N", help="the higher survives a merge (default: 0)")
    parser.add_argument("--force-new", action="store_true", help="merge it with nothing but the very same text")
    add_scope(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Learn it, and say what was learned."""
    if options.right == options.wrong == "-":
        raise InputError("--right and --wrong cannot both be standard input")
    said = _said(options)
    place = Place()
    scope = place.scope(options)
    _checked(options, said, scope)
    if scope == "project":
        place.begin_project()
    threshold = place.config["behaviors.near_duplicate"]
    with place.open() as scopes:
        with scopes.writing(scope):
            needed = 1.0 if options.force_new else threshold
            learned = _store(options, said, scope, now=place.now, scopes=scopes, threshold=needed)
        stored = scopes.store(scope).get(learned.behavior.id) or learned.behavior
        tokens = tier_tokens(scopes, stored, place.config)
        path = scopes.store(scope).path
        like = _elsewhere(stored, scopes, threshold)
    if options.as_json:
        _say_json(learned, stored, tokens, path, like)
    else:
        _say(_event(cleaned(said["right"]), learned.merged_with), learned, stored, tokens, path)
    tell_masked(said["right"], said["wrong"], options.summary)
    if like is not None:
        whose = "for every project" if like.scope == "user" else "in this project"
        note(f"{named(like)} says the same {whose}; both are kept")
    if scope == "project":
        place.tell_trust()
    return 0


def _said(options: Namespace) -> dict[str, Any]:
    """Return what ``learn`` is told."""
    return {
        "right": text_of(options.right),
        "wrong": text_of(options.wrong),
        "file": options.file,
        "task": options.task,
        "tags": [tag.strip() for tag in options.tags.split(",") if tag.strip()],
        "kind": options.kind,
        "name": options.name,
        "when": values_by_key("--when", options.when) or None,
    }


def _checked(options: Namespace, said: dict[str, Any], scope: str) -> None:
    """Raise what is wrong with it before a file is made."""
    learn(**said, scope=scope, now=0.0).behavior.replace(summary=options.summary, priority=options.priority or 0)


def _store(
    options: Namespace, said: dict[str, Any], scope: str, *, now: float, scopes: Scopes, threshold: float
) -> Learned:
    """Learn it among what is in the file of *scope*, which nobody else can change meanwhile."""
    text = cleaned(said["right"])
    known = scopes.store(scope).behaviors()
    learned = learn(**said, scope=scope, now=now, existing=known, near_duplicate=threshold)
    behavior = learned.behavior.replace(
        summary=options.summary or learned.behavior.summary,
        priority=learned.behavior.priority if options.priority is None else options.priority,
    )
    old = learned.merged_with
    detail: dict[str, Any] = {}
    if old is not None:
        said_anew = [field for field in ("summary", "priority") if getattr(behavior, field) != getattr(old, field)]
        learned = learned._replace(changes=(*learned.changes, *(f"{field} changed" for field in said_anew)))
        fields = [field for field in FIELDS if getattr(behavior, field) != getattr(old, field)]
        before = {field: as_object(old)[field] for field in fields}
        detail = {"text": text, "wrong": cleaned(said["wrong"]), "changes": list(learned.changes), "before": before}
    scopes.put(behavior, event=_event(text, old), now=now, **detail)
    return learned._replace(behavior=behavior)


def _event(text: str, old: Behavior | None) -> str:
    if old is None:
        return "learned"
    wordings = {normalized(wording) for wording in (old.canonical, *old.variants)}
    return "confirmed" if normalized(text) in wordings else "merged"


def _elsewhere(behavior: Behavior, scopes: Scopes, threshold: float) -> Behavior | None:
    """Return what says the same in the other file, if something there does."""
    other = scopes.user if behavior.scope == "project" else scopes.project
    live = other.behaviors(LIVE) if other is not None else []
    found = most_similar(behavior.canonical, [each.canonical for each in live])
    return live[found.index] if found is not None and found.similarity >= threshold else None


def _say(event: str, learned: Learned, stored: Behavior, tokens: dict[str, int], path: str) -> None:
    old = learned.merged_with
    what = {"learned": "learned", "confirmed": "known already", "merged": "merged into"}
    say(printable(f"{what[event]}: {named(stored)}"))
    rows = [
        ("kind", stored.kind.value),
        ("tags", ", ".join(stored.tags)),
        ("when", str(stored.when)),
        ("summary", cut(one_line(stored), LONGEST)),
        ("tokens", tokens_line(tokens)),
        ("stored in", path),
        ("changed", "" if old is None else "\n".join(learned.changes)),
    ]
    say(facts(rows))


def _say_json(learned: Learned, stored: Behavior, tokens: dict[str, int], path: str, like: Behavior | None) -> None:
    old = learned.merged_with
    say_json(
        {
            "behavior": as_object(stored),
            "merged_with": None if old is None else as_object(old),
            "changes": list(learned.changes),
            "tokens": tokens,
            "file": path,
            "like": None if like is None else as_object(like),
        }
    )
