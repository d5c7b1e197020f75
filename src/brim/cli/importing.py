"""Carries out an import: shows the plan, asks, and stores it."""

from __future__ import annotations

from brim.cli.asking import says_yes
from brim.cli.output import Progress
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from brim.cli.learned import Place
    from brim.store.imports import Plan
    from brim.store.scopes import Scopes

PROGRESS_FROM = 500
"""Behaviors from which a bar is shown: each takes about a millisecond, most of it to count its lines."""


def carry_out(
    options: Namespace,
    place: Place,
    scopes: Scopes,
    make: Callable[[], Plan],
    show: Callable[[Plan], None],
    *,
    source: str,
    event: str = "imported",
) -> tuple[Plan, bool]:
    """Show the plan, ask if that was not answered by ``--yes``, and store it; return it, and whether it was stored.

    What was agreed to is what is stored: if somebody else wrote meanwhile, and it would be other than that, nothing is.
    """
    plan = make()
    show(plan)
    if plan.is_empty or options.dry_run or not says_yes("Store this?", yes=options.yes):
        return plan, False
    if "project" in plan.scopes:
        place.begin_project()
    with scopes.writing(*plan.scopes):
        again = make()
        if again != plan and not options.yes:
            raise InputError("what is stored was changed by somebody else meanwhile; nothing was imported: try again")
        with Progress(len(again.changes), shown_from=PROGRESS_FROM, doing="storing") as progress:
            again.store(scopes, now=place.now, source=source, event=event, progress=progress.advance)
    return again, True
