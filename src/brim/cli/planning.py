"""Options of the commands that make a plan."""

from __future__ import annotations

from brim.cli.learned import NOTHING_YET
from brim.cli.output import note
from brim.cli.settings import add_model
from brim.config.table import FORMATS, STRATEGIES
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from brim.activation.context import Context
    from brim.store.scopes import Scopes


def add_planning(parser: ArgumentParser, budget: str) -> None:
    """Add the options that a plan is made with; *budget* says what ``--token-budget`` is."""
    from argparse import BooleanOptionalAction

    about = parser.add_argument_group("the plan", "stronger than the settings of the same names")
    about.add_argument("--token-budget", metavar="N", help=budget)
    add_model(about)  # type: ignore[arg-type] # a group takes options as a parser does
    about.add_argument("--format", choices=FORMATS, help="how the text is written (default: markdown)")
    text = "who gives way when it is too much (default: lowest-first)"
    about.add_argument("--strategy", choices=STRATEGIES, help=text)
    text = "whether spare budget is filled with more detail"
    about.add_argument("--fill", action=BooleanOptionalAction, default=None, help=text)
    about.add_argument("--max-chars", metavar="N", help="characters that the text may have: a second limit")


def flags_of(options: Namespace, budget_key: str) -> dict[str, object]:
    """Return what ``add_planning`` was given, by setting; ``--token-budget`` is that of *budget_key*."""
    if options.model == "":
        raise InputError("--model is empty: name a model, or leave the option out")
    return {
        budget_key: options.token_budget,
        "model": options.model,
        "injection.format": options.format,
        "injection.strategy": options.strategy,
        "injection.fill": options.fill,
        "injection.max_chars": options.max_chars,
    }


def context_object(context: Context) -> dict[str, list[str]]:
    """Return what is known of the situation, for a script."""
    return {key: list(values) for key, values in context.facts.items()}


def tell_nothing(scopes: Scopes, context: Context) -> None:
    """Say on standard error why there is nothing to show."""
    if scopes.user is None and scopes.project is None:
        note(NOTHING_YET)
    else:
        note(f"nothing that was learned matters here ({context})")
