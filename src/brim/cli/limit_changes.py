"""What a person types after ``brim limit``, and the change that it makes."""

from __future__ import annotations

import os
import re
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass

from brim.cli.asking import need_person
from brim.cli.index_reading import brought_up_to_date
from brim.cli.output import home_path, note
from brim.errors import InputError
from brim.money.book import LimitBook
from brim.money.changing import (
    change_limits,
    holding,
    limits_to_set,
    loosens,
    raised_by,
    stopped_limit,
    with_new,
    without,
)
from brim.money.limits import SpendingLimit
from brim.money.standing import MOST_RAISED
from brim.sessions.requests import EVERYTHING
from brim.workspace import Workspace

SET = "set"
MORE = "more"
PERCENT_MORE = re.compile(r"\+(\d{1,3})%")
"""What allows so much more until the period ends."""
ACTIONS = ("raise", "remove", "stop", "forget")
UNLIMITED = ("none", "unlimited")
USAGE = (
    "write it as: brim limit 5/day 20/week, brim limit raise 8/day, brim limit +10%,"
    " brim limit stop, or brim limit remove [5/day]"
)


@dataclass(frozen=True)
class LimitWords:
    """What a person typed after ``brim limit``."""

    action: str
    """One of ``ACTIONS``, ``SET`` or ``MORE``."""
    texts: tuple[str, ...]
    percent: int = 0
    """How much ``MORE`` is."""


def change(options: Namespace, workspace: Workspace) -> None:
    """Change limits as the words of *options* say."""
    words = _read(options.words)
    _check(words)
    if words.action not in (SET, "stop"):
        need_person("decides about a limit that is set")
    if words.action == "forget":
        _forget(words.texts[0], workspace)
        return
    project = EVERYTHING if options.everywhere else workspace.limits_project
    if not project:
        raise InputError("the current folder was deleted: go to another, or use --all")
    if words.action == MORE:  # what is reached depends on what was spent just now
        brought_up_to_date([], config=workspace.config).index.close()
    limits = change_limits(
        os.path.join(workspace.home, "config.yaml"),
        lambda limits: _changed(limits, words, project, workspace, options),
    )
    for name in ("config", "limit_settings"):
        workspace.__dict__.pop(name, None)
    if not any(limit.project == project for limit in limits):
        where = "all projects" if options.everywhere else home_path(project)
        note(f"there is no limit for {where} now")


def _check(words: LimitWords) -> None:
    """Raise unless the action has as many texts as it needs."""
    if words.action in (MORE, "stop") and words.texts:
        raise InputError(USAGE)
    if words.action == MORE and not 0 < words.percent <= MOST_RAISED:
        raise InputError(f"a limit is raised by at most +{MOST_RAISED}%: set another one instead")
    if words.action in ("raise", "forget") and len(words.texts) != 1:
        raise InputError(USAGE)


def _read(words: Sequence[str]) -> LimitWords:
    joined = join_units(words)
    first = joined[0].lower()
    if first in UNLIMITED:
        return LimitWords("remove", ())
    percentage = PERCENT_MORE.fullmatch(first)
    if percentage:
        return LimitWords(MORE, tuple(joined[1:]), int(percentage[1]))
    if first in ACTIONS:
        return LimitWords(first, tuple(joined[1:]))
    return LimitWords(SET, tuple(joined))


def join_units(words: Sequence[str]) -> list[str]:
    """Return *words*, in which "2M tokens/day" may have come as two."""
    joined: list[str] = []
    for word in words:
        unit = word.lower().partition("/")[0]
        if joined and unit in ("token", "tokens"):
            joined[-1] = f"{joined[-1]} {word}"
        else:
            joined.append(word)
    return joined


def _changed(
    limits: list[SpendingLimit],
    words: LimitWords,
    project: str,
    workspace: Workspace,
    options: Namespace,
) -> list[SpendingLimit]:
    """Return *limits* after what a person wants."""
    if words.action == "remove":
        return without(limits, project, words.texts, subagent=options.subagent)
    if words.action == "stop":
        return with_new(limits, [stopped_limit(project)])
    if words.action == MORE:
        with workspace.open_index() as index:
            book = LimitBook.of_user(
                workspace.limit_settings, index, workspace.environ, workspace.now
            )
            standings = book.standings(project)
        own = [standing for standing in standings if standing.limit.project == project]
        return raised_by(words.percent, limits, holding(own))
    new = limits_to_set(words.texts, project, subagent=options.subagent, now=workspace.now)
    earlier = {limit.kind for limit in limits}
    if words.action == "raise" and new[0].kind not in earlier:
        names = [limit.text for limit in limits if limit.project == project]
        listing = ""
        if names:
            listing = f"; here: {', '.join(names)}"
        raise InputError(
            f"There is no such limit to raise{listing}. To set one: brim limit {new[0].text}"
        )
    changed = with_new(limits, new)
    if loosens(workspace.limit_settings.limits, changed, workspace.now):
        need_person("sets a limit that leaves more than the one there is")
    return changed


def _forget(key: str, workspace: Workspace) -> None:
    with workspace.open_index() as index:
        if not index.forget(key):
            raise InputError(
                f'No request has the key "{key[:80]}": brim usage --requests shows keys'
            )
    note(f"{key[:80]} doesn't count any more")
