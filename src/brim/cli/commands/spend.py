"""``brim spend``: limits on cost, and what is spent under them."""

from __future__ import annotations

import os

from brim.cli.output import note, printable, say, say_json
from brim.cli.settings import add_json, complete_model, whole_number
from brim.cli.spending import Money, as_object, complete_scope, in_words, ledger_file, scope_table
from brim.errors import InputError, LimitReached, UnknownPrice
from brim.spend.ledger import SETTLED, lineage
from brim.spend.money import in_dollars, micro_dollars

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from typing import Any

    from brim.spend.ledger import Reservation

WORDS = {
    "status": ("[SCOPE]", 0, 1),
    "limit": ("SCOPE USD|none", 2, 2),
    "reserve": ("SCOPE [USD]", 1, 2),
    "settle": ("REQUEST_ID USD", 2, 2),
    "release": ("REQUEST_ID", 1, 1),
    "continue": ("SCOPE", 1, 1),
    "raise": ("SCOPE USD", 2, 2),
    "wrap-up": ("SCOPE", 1, 1),
    "stop": ("SCOPE", 1, 1),
}
"""What each action takes: how it is written, and how many words at least and at most."""

LEAST = 1
"""What is set aside for a price that is not known but allowed: not 0, which would fit where nothing is left."""

OPTIONS = dict.fromkeys(("request_id", "lease", "model", "input_tokens", "output_tokens", "wrap_up"), "reserve") | {
    "anew": "limit"
}
"""Which action each option belongs to."""

HELP = """\
Set limits on cost, and see what is spent. A scope is a project, a job in it, an agent in that: shop/job-7/agent-2. What
an agent spends counts against every scope above it. Amounts are US dollars.

  status [SCOPE]         what is spent, reserved and left, everywhere or below SCOPE (default)
  limit SCOPE USD|none   nothing above USD is admitted; 0 lets nothing be spent. A part of it, 5 % and at most $0.50, is
                         held back for the wrap-up. The same limit again changes nothing, unless you say --anew
  reserve SCOPE [USD]    set USD aside before a request is sent; ends with 1 if it does not fit: then do not send it
  settle ID USD          what the request really cost; saying it again corrects it
  release ID             the request was not sent
  continue SCOPE         at the limit: go on once, with a tenth more
  raise SCOPE USD        at the limit, or before: USD is the limit from now on
  wrap-up SCOPE          at the limit: only the wrap-up may spend, from the part held back for it
  stop SCOPE             nothing more may be spent

Examples:
  brim spend limit shop 10
  brim spend reserve shop/job-7 0.25 --request-id r1
  brim spend reserve shop/job-7 --model claude-sonnet-4-5 --input-tokens 20000 --output-tokens 4000
  brim spend settle r1 0.18
  brim spend status
"""


def arguments(parser: ArgumentParser) -> None:
    """Say what the command takes."""
    parser.add_argument("action", nargs="?", choices=list(WORDS), default="status", help="what to do (default: status)")
    words: Any = parser.add_argument("words", nargs="*", metavar="ARGUMENT", help="scope, request id and amount")
    words.completer = complete_scope
    parser.add_argument("--request-id", metavar="ID", help="for reserve: the id to settle it by (default: a new one)")
    parser.add_argument(
        "--lease", type=float, metavar="S", help="for reserve: seconds until it is charged (default: 60)"
    )
    model: Any = parser.add_argument(
        "--model", "-m", metavar="MODEL", help="for reserve: price the tokens of this model"
    )
    model.completer = complete_model
    for name, what in (("input", "the prompt has"), ("output", "the answer may have at most")):
        text = f"for reserve with --model: tokens that {what}"
        parser.add_argument(f"--{name}-tokens", type=whole_number(0), metavar="N", help=text)
    parser.add_argument("--wrap-up", action="store_true", default=None, help="for reserve: it is for the wrap-up")
    text = "for limit: forget what was answered, also if the limit is the same; what was stopped is open again"
    parser.add_argument("--anew", action="store_true", default=None, help=text)
    add_json(parser)


def run(options: Namespace) -> int:
    """Do what was asked, and return the exit code."""
    usage, least, most = WORDS[options.action]
    if not least <= len(options.words) <= most:
        raise InputError(f"write it as: brim spend {options.action} {usage}")
    for name, action in OPTIONS.items():
        if options.action != action and getattr(options, name) is not None:
            raise InputError(f"--{name.replace('_', '-')} belongs to 'brim spend {action}'")
    if options.action == "status":
        return _status(options)
    if options.action not in ("settle", "release"):
        lineage(options.words[0])
    with Money() as money:
        if options.action == "reserve":
            return _reserve(options, money)
        if options.action in ("settle", "release"):
            return _end(options, money)
        return _answer(options, money)


def _status(options: Namespace) -> int:
    under = options.words[0] if options.words else ""
    if under:
        lineage(under)
    found = []
    if os.path.exists(ledger_file()):
        with Money() as money:
            found = money.statuses(under)
    if options.as_json:
        say_json({"scopes": [as_object(each) for each in found]})
    elif found:
        say(scope_table(found))
    else:
        what = f"nothing is known of {under}" if under else "nothing is spent and there is no limit"
        note(f"{what} yet: brim spend limit {under or 'SCOPE'} USD")
    return 0


def _answer(options: Namespace, money: Money) -> int:
    from brim.spend.limits import Raise

    scope, *rest = options.words
    if options.action != "limit" and not any(each.scope == scope for each in money.ledger.statuses(scope)):
        raise InputError(
            f"nothing is known of {scope}: 'brim spend status' lists every scope that has a limit or spent"
        )
    money.apply_default(scope)
    if options.action == "limit":
        amount = None if rest[0].strip().lower() in ("none", "unlimited") else micro_dollars(rest[0], up=False)
        status = money.ledger.limit(scope, amount, anew=bool(options.anew))
        if status.limit != amount or status.state in ("wrapping_up", "stopped", "closed"):
            note(f"{scope}: has this limit already, and what was answered since stays: --anew begins anew")
    elif options.action == "raise":
        status = money.ledger.answer(scope, Raise(micro_dollars(rest[0], up=False)))
    else:
        status = money.ledger.answer(scope, options.action.replace("-", "_"))
    prompt = ""
    if options.action == "wrap-up":
        from brim.spend.limits import build_wrap_up_prompt

        prompt = build_wrap_up_prompt(status.spent, status.limit, held=status.left or 0)
    if options.as_json:
        say_json({**as_object(status), **({"prompt": prompt} if prompt else {})})
    else:
        say(in_words(status))
        if prompt:
            say(f"\n{prompt}")
    return 0


def _reserve(options: Namespace, money: Money) -> int:
    scope = options.words[0]
    try:
        amount = _amount(options, money)
        money.apply_default(scope)
        found = money.ledger.reserve(
            scope,
            amount,
            request_id=options.request_id,
            lease=60.0 if options.lease is None else options.lease,
            purpose="wrap_up" if options.wrap_up else "",
        )
    except (LimitReached, UnknownPrice) as refused:
        if options.as_json:
            fields = {key: value for key, value in vars(refused).items() if not key.startswith("_")}
            reason = {} if isinstance(refused, LimitReached) else {"reason": "unknown_price"}
            say_json({"admitted": False, **reason, **fields, "message": str(refused)})
        else:
            note(str(refused))
        return 1
    if found.state == SETTLED:  # who sends it again spends twice
        message = f"{found.request_id}: was settled already, so it was sent: take another id for another request"
        if options.as_json:
            say_json({"admitted": False, "reason": SETTLED, **as_object(found), "message": message})
        else:
            note(printable(message))
        return 1
    if options.as_json:
        say_json({"admitted": True, **as_object(found), **_told(money)})
    else:
        say(printable(f"{found.request_id}: {_stands(found)}"))
        _tell(money)
    return 0


def _end(options: Namespace, money: Money) -> int:
    id = options.words[0]
    settles = options.action == "settle"
    found = money.ledger.settle(id, micro_dollars(options.words[1])) if settles else money.ledger.release(id)
    if options.as_json:
        say_json({**as_object(found), **_told(money)})
        return 0
    say(printable(f"{found.request_id}: {_stands(found)}"))
    if found.overrun and settles and not any(getattr(each, "overrun", 0) for each in money.notices):
        note(f"{found.scope}: is closed, because that is more than was reserved: see 'brim spend status'")
    _tell(money)
    return 0


def _amount(options: Namespace, money: Money) -> int:
    """Return what to reserve: the amount that was given, or what the tokens cost at most."""
    tokens = options.input_tokens, options.output_tokens
    if len(options.words) == 2:
        if options.model is not None or tokens != (None, None):
            raise InputError("give USD, or --model with --input-tokens and --output-tokens, not both")
        return micro_dollars(options.words[1])
    if options.model is None or None in tokens:
        raise InputError("how much? give USD, or --model with --input-tokens and --output-tokens")
    from brim.spend.money import estimate_cost

    money.believe_own_prices()
    try:
        return estimate_cost(options.model, input_tokens=tokens[0], output_tokens=tokens[1])
    except UnknownPrice as error:
        if money.config["spend.unknown_price"] == "refuse":
            raise
        note(f"the price of {error.model} is not known: only {in_dollars(LEAST)} is set aside (spend.unknown_price)")
        return LEAST


def _stands(found: Reservation) -> str:
    if found.state == "open":
        return f"{in_dollars(found.amount)} is reserved in {found.scope}"
    if found.state == "released":
        return f"{in_dollars(found.amount)} is free again in {found.scope}"
    return f"{in_dollars(found.charged)} is spent in {found.scope}, of {in_dollars(found.amount)} reserved"


def _told(money: Money) -> dict[str, Any]:
    return {"notices": [{"kind": each.kind, "text": str(each)} for each in money.notices]}


def _tell(money: Money) -> None:
    for notice in money.notices:
        note(str(notice))
